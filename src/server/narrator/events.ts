import type { Result } from 'ethers'
import { z } from 'zod'
import { interfaces } from '../../chain/interfaces.js'
import type { ChainLog, LogQuery } from '../../chain/logReader.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'

const uintText = z.codec(z.string().regex(/^\d{1,78}$/), z.bigint(), { decode: BigInt, encode: String })

/** A value of an event that may be shown: an amount (in base units), a deadline (Unix seconds) or a version number. */
const shownSchema = z.strictObject({
  name: z.enum(['amount', 'payout', 'supply', 'deadline', 'version']),
  unit: z.enum(['USDC', 'shares', 'time', 'count']),
  value: uintText,
})
export type Shown = z.output<typeof shownSchema>

/** Reads one value that may be shown from the fields of an event; null when there is none. */
type Reading = (fields: Result) => Shown | null

/** The contracts in the order of their queries, with their tags. */
const TAGS = {
  institutionRegistry: 'registry',
  orderEscrow: 'escrow',
  confidentialLedger: 'ledger',
  equityToken: 'token',
  platformPool: 'pool',
} as const

/**
 * Every event that is narrated: those that our contracts declare themselves, but for claims and the Authority. Each shows only
 * amounts, deadlines and version numbers; no other field leaves this file.
 */
const ROWS = [
  row('institutionRegistry', 'InstitutionRegistered', 'institution registered'),
  row('institutionRegistry', 'AdminTransferred', 'admin transferred'),
  row('institutionRegistry', 'MemberUpdated', 'member updated'),
  row('orderEscrow', 'OrderOpened', 'order opened', show('amount', 'USDC'), show('deadline', 'time')),
  row('orderEscrow', 'OrderSettled', 'order settled', show('amount', 'USDC'), showPayout),
  row('orderEscrow', 'OrderRefunded', 'order refunded', show('amount', 'USDC')),
  row('confidentialLedger', 'PortfolioUpdated', 'portfolio updated', show('version', 'count')),
  row('confidentialLedger', 'PolicyUpdated', 'rulebook updated', show('version', 'count')),
  row('equityToken', 'KycUpdated', 'kyc updated'),
  row('equityToken', 'ListingUpdated', 'listing updated'),
  row('equityToken', 'FreezeUpdated', 'freeze updated'),
  row('platformPool', 'BatchMinted', 'batch minted', show('amount', 'shares'), show('supply', 'shares')),
  row('platformPool', 'BatchBurned', 'batch burned', show('amount', 'shares'), show('supply', 'shares')),
]
export const EVENT_NAMES: readonly string[] = ROWS.map(({ name }) => name)

function row(contract: keyof typeof TAGS, name: string, says: string, ...shows: Reading[]) {
  const fragment = interfaces[contract].getEvent(name)
  if (fragment === null) throw new TypeError(`${contract} has no event ${name}`)
  return { contract, name, says, shows, fragment, topic: fragment.topicHash }
}

function show(name: Shown['name'], unit: Shown['unit']) {
  return (fields: Result): Shown => ({ name, unit, value: z.bigint().parse(fields.getValue(name)) })
}

/** With its unit, because the amount means nothing without it; which shares is not shown. */
function showPayout(fields: Result): Shown | null {
  const isUsdc = fields.getValue('payoutAsset') === nameToBytes32('USDC')
  const payout = show('payout', isUsdc ? 'USDC' : 'shares')(fields)
  return payout.value === 0n ? null : payout
}

/** A narrated event, as it is printed and stored. */
export const narrationSchema = z.strictObject({ event: z.enum(EVENT_NAMES), values: z.array(shownSchema) })
export type Narration = z.output<typeof narrationSchema>

/** One printed line. `time` in Unix seconds. */
export type NarrationLine =
  | { readonly kind: 'event' | 'retraction'; readonly time: bigint; readonly narration: Narration }
  | { readonly kind: 'reset'; readonly time: bigint }

/** The queries for the narrated events, one a contract. */
export function queriesOf(contracts: ContractAddresses): LogQuery[] {
  const watched = [...new Set(ROWS.map(({ contract }) => contract))]
  return watched.map((contract) => ({
    address: contracts[contract],
    topics: [ROWS.filter((each) => each.contract === contract).map(({ topic }) => topic)],
  }))
}

/** The narration of a log that one of the queries found; null where it has another form: a wrong address. */
export function narrationOf({ topics, data }: ChainLog): Narration | null {
  const found = ROWS.find(({ topic }) => topic === topics[0])
  if (found === undefined) return null
  const { contract, name, shows, fragment } = found
  try {
    const fields = interfaces[contract].decodeEventLog(fragment, data, topics)
    return { event: name, values: shows.map((read) => read(fields)).filter((shown) => shown !== null) }
  } catch {
    return null
  }
}

/** The tag of an event's contract, and what the event says in words. */
export function wordsOf(event: string): { readonly tag: string; readonly says: string } {
  const found = ROWS.find(({ name }) => name === event)
  if (found === undefined) throw new TypeError(`the table has no ${event}`)
  return { tag: TAGS[found.contract], says: found.says }
}
