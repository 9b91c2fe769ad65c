import * as z from 'zod'

// One schema per control command: the body of `POST /sandbox/<command>`, and the argument of the method with that name.

const decimal = z.string().regex(/^\d{1,15}(?:\.\d{1,15})?$/)
const fraction = z.string().regex(/^(?:0(?:\.\d{1,9})?|1)$/)
const delayMs = z.number().int().min(0).max(3_600_000)
const times = z.number().int().min(1).max(1_000_000)
const time = z.iso.datetime({ offset: true })
const snapshotMember = z.enum(['latestTrade', 'latestQuote', 'minuteBar', 'dailyBar', 'prevDailyBar'])
const waitingStatus = z.enum(['held', 'suspended', 'stopped', 'accepted_for_bidding', 'pending_replace'])
const endingStatus = z.enum(['calculated', 'done_for_day'])
const endStatus = z.enum(['canceled', 'expired', 'rejected'])
/** The statuses that a command can name. */
export type NamedStatus = z.output<typeof waitingStatus | typeof endingStatus | typeof endStatus>
export type EndStatus = z.output<typeof endStatus>

/** The fate of an order once the market is open. */
const fillBehaviour = z.strictObject({
  /**
   * - `immediate` fills before the next request, `delay` after `delayMs`, `hold` when released
   * - `partial` fills `fraction`, then waits for release
   * - `reject` and `expire` end the order, after filling `fraction` if given
   * - `replace` fills `fraction`; a new order under another id continues, and fills after `delayMs`
   * A limit order rests until the price reaches its limit, and has its fate then.
   */
  mode: z.enum(['immediate', 'delay', 'hold', 'partial', 'reject', 'expire', 'replace']),
  delayMs: delayMs.optional(),
  fraction: fraction.optional(),
  /** How long a requested cancellation stays pending; the order may still fill during that time. */
  cancelDelayMs: delayMs.optional(),
  /** The status of the waiting order, instead of `new`. */
  waitsAs: waitingStatus.optional(),
  /** The status between the last fill and the end, for `endDelayMs`. */
  endsThrough: endingStatus.optional(),
  endDelayMs: delayMs.optional(),
  /** The form of `filled_qty` once the order has ended, instead of a decimal. */
  filledQty: z.enum(['null', 'absent']).optional(),
})
export type FillBehaviour = z.output<typeof fillBehaviour>

/** Selects the live orders that match every given member. */
const selection = {
  account: z.string().optional(),
  symbol: z.string().optional(),
  clientOrderId: z.string().optional(),
}

const rate = decimal.regex(/[1-9]/)
const actionShape = {
  symbol: z.string(),
  /** `YYYY-MM-DD`: the ex-date, or else the day on which it counts. */
  day: z.iso.date(),
  /** The day on which it is processed and paid; `day` if absent. */
  paidOn: z.iso.date().optional(),
}
/** `newRate` shares, of the successor if there is one, for `oldRate`. */
const rates = { newRate: rate, oldRate: rate }
const successor = { successor: z.string() }
const cashDividend = z.strictObject({ type: z.literal('cash_dividend'), ...actionShape, rate })
const actions = [
  z.strictObject({ type: z.literal('forward_split'), ...actionShape, ...rates }),
  z.strictObject({ type: z.literal('reverse_split'), ...actionShape, ...rates }),
  z.strictObject({ type: z.literal('stock_dividend'), ...actionShape, rate }),
  z.strictObject({ type: z.literal('name_change'), ...actionShape, ...successor }),
  z.strictObject({ type: z.literal('worthless_removal'), ...actionShape }),
  z.strictObject({ type: z.literal('cash_merger'), ...actionShape, cashRate: rate }),
  z.strictObject({ type: z.literal('stock_merger'), ...actionShape, ...successor, ...rates }),
  z.strictObject({
    ...{ type: z.literal('stock_and_cash_merger'), ...actionShape },
    ...{ ...successor, ...rates, cashRate: rate },
  }),
  z.strictObject({ type: z.literal('spin_off'), ...actionShape, ...successor, ...rates }),
] as const

export const controlSchemas = {
  /** Closing expires the day orders of the session. */
  clock: z.strictObject({
    open: z.boolean(),
    nextOpen: time.optional(),
    nextClose: time.optional(),
  }),
  price: z.strictObject({
    symbol: z.string(),
    price: decimal,
    bid: decimal.optional(),
    ask: decimal.optional(),
  }),
  walk: z.strictObject({ steps: z.number().int().min(1).max(100_000).optional() }),
  snapshot: z.strictObject({
    symbol: z.string(),
    omit: z.union([z.literal('all'), z.array(snapshotMember)]),
  }),
  asset: z.strictObject({
    symbol: z.string(),
    status: z.enum(['active', 'inactive']).optional(),
    tradable: z.boolean().optional(),
    fractionable: z.boolean().optional(),
  }),
  account: z.strictObject({
    name: z.string(),
    cash: decimal.optional(),
    positions: z.record(z.string(), decimal).optional(),
  }),
  /** Applies to later orders; the newest matching rule wins. Without `times`, it applies until cleared. */
  fill: fillBehaviour.extend({
    account: z.string().optional(),
    symbol: z.string().optional(),
    times: times.optional(),
  }),
  release: z.strictObject({ ...selection, fraction: fraction.optional() }),
  end: z.strictObject({ ...selection, status: endStatus }),
  /** A fault of the next matching requests: `respond` or `drop`, after `delayMs` if given, or a delay alone. */
  fault: z.strictObject({
    method: z.enum(['GET', 'POST', 'DELETE']).optional(),
    /** Prefix of the path, such as `/v2/orders`. */
    path: z.string().startsWith('/').optional(),
    /** The account whose keys the request has. */
    account: z.string().optional(),
    /** The number of requests that it affects; 1 if absent. */
    times: times.optional(),
    /** The answer, instead of handling the request. */
    respond: z
      .strictObject({
        status: z.number().int().min(200).max(599),
        body: z.unknown().optional(),
        headers: z.record(z.string(), z.string()).default({}),
      })
      .optional(),
    /** Cuts the connection before the request is handled, or after, so that its answer is lost. */
    drop: z.enum(['before', 'after']).optional(),
    /** A delay before all other effects. */
    delayMs: delayMs.optional(),
  }),
  /** Adds a corporate action to what the broker announces. */
  announce: z.discriminatedUnion('type', [...actions, cashDividend]),
  /** Carries one out, announced or not, in every account that holds the symbol. */
  book: z.discriminatedUnion('type', [
    ...actions,
    cashDividend.extend({
      /** The shares that `account` held at the ex-date; those of each account today if absent. */
      qty: decimal.optional(),
      account: z.string().optional(),
      /** The part of the dividend that is withheld. */
      withholding: fraction.optional(),
    }),
  ]),
  clear: z.strictObject({ what: z.enum(['fills', 'faults']) }),
  limit: z.strictObject({ perMinute: z.number().int().min(1).nullable() }),
}

export type FillRule = z.output<typeof controlSchemas.fill>
export type Fault = z.output<typeof controlSchemas.fault>
export type ControlCommand = keyof typeof controlSchemas
export type ControlInput<C extends ControlCommand> = z.input<(typeof controlSchemas)[C]>
