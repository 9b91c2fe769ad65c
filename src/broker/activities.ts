import * as z from 'zod'
import { PRICE_DECIMALS, parseDecimal, USDC_DECIMALS } from '../protocol/units.js'
import type { BrokerHttp } from './http.js'
import { timestampSchema } from './market.js'
import {
  decimalTextSchema,
  exactSharesSchema,
  fillPriceSchema,
  signedSharesSchema,
  signedUsdSchema,
} from './numbers.js'

const fillSchema = z
  .object({
    activity_type: z.literal('FILL'),
    id: z.string().min(1),
    symbol: z.string().min(1),
    // A short sale is one of shares that the account does not hold.
    side: z.enum(['buy', 'sell', 'sell_short']),
    qty: exactSharesSchema,
    price: fillPriceSchema,
    transaction_time: timestampSchema,
    order_id: z.string().min(1),
  })
  .transform(({ id, symbol, side, qty, price, transaction_time: at, order_id: orderId }) => ({
    id,
    fill: {
      /** The broker's own id of the order. */
      orderId,
      symbol,
      side: side === 'buy' ? ('buy' as const) : ('sell' as const),
      /** Share base units. */
      qty,
      /** USD with 6 decimals, rounded up. */
      price: parseDecimal(price, PRICE_DECIMALS, 'up'),
      at,
    },
  }))
/** A fill as the broker has entered it: an order that filled in parts has several. */
export type TradeActivity = Readonly<z.output<typeof fillSchema>['fill']>

const feeSchema = z
  .object({
    activity_type: z.literal('FEE'),
    id: z.string().min(1),
    date: z.iso.date(),
    net_amount: decimalTextSchema,
    status: z.string().nullish(),
  })
  .transform(({ id, date, net_amount, status }) => ({
    id,
    fee: {
      /** `YYYY-MM-DD`: the day that it was entered for. */
      day: date,
      /** USD with 6 decimals. */
      amount: status === 'canceled' ? 0n : -parseDecimal(net_amount, USDC_DECIMALS, 'down'),
    },
  }))
/** A fee that the broker has charged, or given back where it is negative. */
export type FeeActivity = Readonly<z.output<typeof feeSchema>['fee']>

/** What corporate actions leave in the books, and may be asked for by name. */
const CORPORATE_TYPES = [
  ...['DIV', 'DIVCGL', 'DIVCGS', 'DIVFEE', 'DIVFT', 'DIVNRA', 'DIVROC', 'DIVTW', 'DIVTXEX'],
  ...['SPLIT', 'SPIN', 'MA', 'NC', 'SC', 'REORG', 'PTC', 'VOF'],
]
/** The broker answers with these, among them former codes of splits and spin-offs, and does not take them as a filter. */
const UNFILTERED_TYPES = ['SSP', 'SSO', 'DIVWH']
const KNOWN_TYPES: ReadonlySet<string> = new Set(['FILL', 'FEE', ...CORPORATE_TYPES, ...UNFILTERED_TYPES])

const entrySchema = z
  .object({
    activity_type: z.enum([...CORPORATE_TYPES, ...UNFILTERED_TYPES]),
    activity_sub_type: z.string().nullish(),
    id: z.string().min(1),
    date: z.iso.date(),
    symbol: z.string().nullish(),
    qty: signedSharesSchema.nullish(),
    net_amount: signedUsdSchema.nullish(),
    description: z.string().max(10_000).nullish(),
    status: z.string().nullish(),
  })
  .transform((entry) => ({
    id: entry.id,
    entry: {
      id: entry.id,
      type: entry.activity_type,
      subType: entry.activity_sub_type ?? '',
      /** `YYYY-MM-DD`: the day that it was entered for. */
      day: entry.date,
      symbol: entry.symbol ?? '',
      /** Share base units that came, or went where they are negative. A cash dividend may name the shares that it is for. */
      qty: entry.qty ?? 0n,
      /** USD with 6 decimals that came, or went where it is negative. */
      cash: entry.net_amount ?? 0n,
      description: entry.description ?? '',
      /** The broker has taken it back. */
      ...(entry.status === 'canceled' && { isCanceled: true }),
    },
  }))

/** Alpaca's ids begin with the day: `20190801011955195::5f596936-…`. */
const DAY_OF_ID = /^(\d{4})(\d\d)(\d\d)\d{9}::/

/** The same where a member cannot be read, such as an amount with more decimals than there are base units. It must not hide the others. */
const unreadableSchema = z
  .object({
    activity_type: z.enum([...CORPORATE_TYPES, ...UNFILTERED_TYPES]),
    id: z.string().min(1),
    date: z.iso.date().nullish().catch(null),
    // The broker is asked for what it announces about it.
    symbol: z.string().regex(/^[\w.]{1,31}$/),
    status: z.string().nullish().catch(null),
  })
  .transform(({ id, activity_type: type, date, symbol, status }) => ({
    id,
    entry: {
      ...{ id, type, symbol, subType: '', qty: 0n, cash: 0n, description: '', isUnreadable: true as const },
      day: date ?? DAY_OF_ID.exec(id)?.slice(1).join('-') ?? '',
      ...(status === 'canceled' && { isCanceled: true }),
    },
  }))
  .refine(({ entry }) => z.iso.date().safeParse(entry.day).success)

/** What a corporate action has left in the books; several entries may belong to one. */
export type BookedEntry = Readonly<z.output<typeof entrySchema>['entry']> & {
  /** Symbol and day are known, and nothing else. */
  readonly isUnreadable?: true
}

const otherSchema = z
  .object({
    activity_type: z.string().refine((type) => !KNOWN_TYPES.has(type)),
    id: z.string().min(1),
    date: z.iso.date().nullish().catch(null),
    symbol: z.string().nullish().catch(null),
  })
  .transform(({ id, activity_type: type, date, symbol }) => ({
    id,
    other: { id, type, day: date ?? null, symbol: symbol ?? '' },
  }))
/** An entry of a kind that this client knows nothing of. */
export type OtherEntry = Readonly<z.output<typeof otherSchema>['other']>

/** An account's entries in the broker's books. */
export interface Activities {
  readonly fills: readonly TradeActivity[]
  readonly fees: readonly FeeActivity[]
  readonly booked: readonly BookedEntry[]
  readonly others: readonly OtherEntry[]
}

/** A page of entries, as the broker answers it. */
export const activityPageSchema = z.array(
  z.union([fillSchema, feeSchema, entrySchema, unreadableSchema, otherSchema]),
)

type ActivityPage = z.output<typeof activityPageSchema>

/** Entries of one page: Alpaca's own limit. */
const PAGE = 100

/** `GET /v2/account/activities`: every entry after a time, a call for each 100. */
export async function getActivities(trading: BrokerHttp, { after }: { after: Date }): Promise<Activities> {
  return asActivities(await readPages(trading, after))
}

/** The same of corporate actions alone, which are few; without former codes, by which the broker enters nothing any more. */
export async function getBookedEntries(
  trading: BrokerHttp,
  { after }: { after: Date },
): Promise<readonly BookedEntry[]> {
  return asActivities(await readPages(trading, after, CORPORATE_TYPES)).booked
}

async function readPages(trading: BrokerHttp, after: Date, types?: readonly string[]): Promise<ActivityPage> {
  const path = '/v2/account/activities'
  const found: ActivityPage = []
  for (let last: string | undefined; ; last = found.at(-1)?.id) {
    const query = {
      ...(types !== undefined && { activity_types: types.join(',') }),
      after: after.toISOString(),
      direction: 'asc',
      page_size: String(PAGE),
      ...(last !== undefined && { page_token: last }),
    }
    const page = await trading.request({ method: 'GET', path, query, purpose: 'other' }, activityPageSchema)
    found.push(...page)
    if (page.length < PAGE) return found
  }
}

export function asActivities(found: ActivityPage): Activities {
  return {
    fills: found.flatMap((entry) => ('fill' in entry ? [entry.fill] : [])),
    fees: found.flatMap((entry) => ('fee' in entry ? [entry.fee] : [])),
    booked: found.flatMap((entry) => ('entry' in entry ? [entry.entry] : [])),
    others: found.flatMap((entry) => ('other' in entry ? [entry.other] : [])),
  }
}
