import { z } from 'zod'

// One schema per control command: the body of `POST /sandbox/<command>`, and the argument of the method with that name.

const decimal = z.string().regex(/^\d{1,15}(?:\.\d{1,15})?$/)
const fraction = z.string().regex(/^(?:0(?:\.\d{1,9})?|1)$/)
const delayMs = z.number().int().min(0).max(3_600_000)
const times = z.number().int().min(1).max(1_000_000)
const share = z.number().min(0).max(1)
const time = z.iso.datetime({ offset: true })
const snapshotMember = z.enum(['latestTrade', 'latestQuote', 'minuteBar', 'dailyBar', 'prevDailyBar'])

/** Selects the live orders that match every given member. */
const selection = {
  account: z.string().optional(),
  symbol: z.string().optional(),
  clientOrderId: z.string().optional(),
}

export const controlSchemas = {
  clock: z.strictObject({
    open: z.boolean(),
    nextOpen: time.optional(),
    nextClose: time.optional(),
    /** Closing expires the day orders of the session; false keeps them live. */
    expireDayOrders: z.boolean().optional(),
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
  fill: z.strictObject({
    account: z.string().optional(),
    symbol: z.string().optional(),
    times: times.optional(),
    mode: z.enum(['immediate', 'delay', 'hold', 'partial', 'reject', 'expire', 'replace']),
    delayMs: delayMs.optional(),
    fraction: fraction.optional(),
    cancelDelayMs: delayMs.optional(),
    waitsAs: z.enum(['held', 'suspended', 'stopped', 'accepted_for_bidding', 'pending_replace']).optional(),
    endsThrough: z.enum(['calculated', 'done_for_day']).optional(),
    endDelayMs: delayMs.optional(),
    filledQty: z.enum(['null', 'absent']).optional(),
  }),
  release: z.strictObject({ ...selection, fraction: fraction.optional() }),
  end: z.strictObject({ ...selection, status: z.enum(['canceled', 'expired', 'rejected']) }),
  fault: z.strictObject({
    method: z.enum(['GET', 'POST', 'DELETE']).optional(),
    path: z.string().startsWith('/').optional(),
    account: z.string().optional(),
    times: times.optional(),
    respond: z
      .strictObject({
        status: z.number().int().min(200).max(599),
        body: z.unknown().optional(),
        headers: z.record(z.string(), z.string()).default({}),
      })
      .optional(),
    drop: z.enum(['before', 'after']).optional(),
    delayMs: delayMs.optional(),
  }),
  clear: z.strictObject({ what: z.enum(['fills', 'faults']) }),
  /** Replaces the stream's behaviour, or invents one event. */
  stream: z.strictObject({
    drop: share.optional(),
    repeat: share.optional(),
    shuffleMs: delayMs.optional(),
    silent: z.boolean().optional(),
    text: z.boolean().optional(),
    refuse: z.boolean().optional(),
    /** Closes every connection. */
    disconnect: z.boolean().optional(),
    invent: z
      .strictObject({ account: z.string(), event: z.string(), clientOrderId: z.string().optional() })
      .optional(),
  }),
  limit: z.strictObject({ perMinute: z.number().int().min(1).nullable() }),
}

export type ControlCommand = keyof typeof controlSchemas
export type ControlInput<C extends ControlCommand> = z.input<(typeof controlSchemas)[C]>
