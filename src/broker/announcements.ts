import * as z from 'zod'
import type { Announcement } from '../protocol/actionReport.js'
import { add, dividedBy, type Ratio, ratio } from '../protocol/ratio.js'
import type { BrokerHttp } from './http.js'
import { rateSchema } from './numbers.js'

/** The broker's kinds, as far as they differ for a holder. `other`: one that is not known here, or that cannot be read. */
export type ActionKind = Announcement['kind']

// A member that cannot be read counts as missing: one strange record must not hide the others.
const symbolSchema = z.string().max(31).nullish().catch(null)
const dateSchema = z.iso.date().nullish().catch(null)
const recordSchema = z.object({
  id: z.string().max(128),
  ...{
    symbol: symbolSchema,
    new_symbol: symbolSchema,
    old_symbol: symbolSchema,
    source_symbol: symbolSchema,
  },
  ...{ acquirer_symbol: symbolSchema, acquiree_symbol: symbolSchema },
  ...{ new_rate: rateSchema, old_rate: rateSchema, source_rate: rateSchema, rate: rateSchema },
  ...{ acquirer_rate: rateSchema, acquiree_rate: rateSchema, cash_rate: rateSchema },
  ...{ long_term_rate: rateSchema, short_term_rate: rateSchema },
  ...{ ex_date: dateSchema, effective_date: dateSchema, record_date: dateSchema, payable_date: dateSchema },
  process_date: z.iso.date(),
  foreign: z.boolean().nullish().catch(null),
})
type BrokersRecord = z.output<typeof recordSchema>

const pageSchema = z.object({
  corporate_actions: z.record(z.string(), z.array(recordSchema)),
  next_page_token: z.string().nullish(),
})

/** Actions of one page: Alpaca's own limit. */
const PAGE = '1000'

export interface AnnouncementFilter {
  readonly symbols: readonly string[]
  /** `YYYY-MM-DD`: of the days on which the broker processes the action. */
  readonly start: string
  readonly end: string
}

/** `GET /v1beta1/corporate-actions`: a call for each 1,000. */
export async function getAnnouncements(
  data: BrokerHttp,
  { symbols, start, end }: AnnouncementFilter,
): Promise<Announcement[]> {
  const found: Announcement[] = []
  const path = '/v1beta1/corporate-actions'
  for (let token: string | undefined, more = symbols.length > 0; more; more = token !== undefined) {
    const query = {
      ...{ symbols: symbols.join(','), start, end, limit: PAGE, sort: 'asc' },
      ...(token !== undefined && { page_token: token }),
    }
    const page = await data.request({ method: 'GET', path, query, purpose: 'other' }, pageSchema)
    for (const [list, records] of Object.entries(page.corporate_actions)) {
      found.push(...records.flatMap((record) => announcementOf(list, record) ?? []))
    }
    token = page.next_page_token ?? undefined
  }
  return found
}

type Terms = Pick<Announcement, 'kind' | 'symbol'> & Partial<Announcement>

/** Undefined for an action that changes nothing for a holder, such as a new CUSIP. */
function announcementOf(list: string, record: BrokersRecord): Announcement | undefined {
  const { process_date: processed, payable_date: payable, effective_date: effective, ex_date: ex } = record
  const terms = TERMS[list]?.(record) ?? { kind: 'other' as const, symbol: symbolOf(record) }
  if (terms.kind === 'symbol-change' && terms.successor === terms.symbol) return undefined
  const days = [processed, payable, effective, ex].filter((day) => day != null)
  return {
    ...{ id: record.id, successor: '', shares: null, cash: null },
    ...{ day: ex ?? effective ?? processed, days: [...new Set(days)] },
    ...{ recordedOn: record.record_date ?? null, foreign: record.foreign === true },
    ...terms,
  }
}

function symbolOf(record: BrokersRecord): string {
  return record.symbol ?? record.source_symbol ?? record.old_symbol ?? record.acquiree_symbol ?? ''
}

/** By the broker's list; null where a member is missing without which the action cannot be carried out. */
const TERMS: Readonly<Partial<Record<string, (record: BrokersRecord) => Terms | null>>> = {
  forward_splits: split,
  reverse_splits: split,
  stock_dividends: ({ symbol, rate, ex_date: ex }) =>
    symbol && rate && ex ? { kind: 'stock-dividend', symbol, shares: rate } : null,
  cash_dividends: ({ symbol, rate, ex_date: ex }) =>
    symbol && rate && ex ? { kind: 'cash-dividend', symbol, cash: rate } : null,
  capital_gains_distributions({ symbol, long_term_rate: long, short_term_rate: short, ex_date: ex }) {
    const cash = long && short ? add(long, short) : (long ?? short)
    return symbol && cash && ex ? { kind: 'cash-dividend', symbol, cash } : null
  },
  name_changes: ({ old_symbol: symbol, new_symbol: successor }) =>
    symbol && successor ? { kind: 'symbol-change', symbol, successor, shares: ratio(1n, 1n) } : null,
  worthless_removals: ({ symbol }) => (symbol ? { kind: 'removal', symbol } : null),
  cash_mergers: ({ acquiree_symbol: symbol, rate: cash }) =>
    symbol && cash ? { kind: 'merger', symbol, cash } : null,
  stock_mergers: (record) => merger(record, null),
  stock_and_cash_mergers: (record) => (record.cash_rate ? merger(record, record.cash_rate) : null),
  spin_offs({
    source_symbol: symbol,
    new_symbol: successor,
    new_rate: shares,
    source_rate: source,
    ex_date: ex,
  }) {
    if (!(symbol && successor && shares && source && ex)) return null
    return { kind: 'spin-off', symbol, successor, shares: dividedBy(shares, source) }
  },
}

function split(record: BrokersRecord): Terms | null {
  const { symbol, new_symbol: successor, new_rate: shares, old_rate: old, ex_date: ex } = record
  if (!(symbol && shares && old && ex)) return null
  const isRenamed = successor && successor !== symbol
  return { kind: 'split', symbol, successor: isRenamed ? successor : '', shares: dividedBy(shares, old) }
}

function merger(record: BrokersRecord, cash: Ratio | null): Terms | null {
  const { acquiree_symbol: symbol, acquirer_symbol: successor } = record
  const { acquirer_rate: shares, acquiree_rate: acquiree } = record
  if (!(symbol && successor && shares && acquiree)) return null
  return { kind: 'merger', symbol, successor, shares: dividedBy(shares, acquiree), cash }
}
