import type { EventFragment } from 'ethers'
import { z } from 'zod'
import { interfaces } from '../../chain/interfaces.js'
import type { ChainLog } from '../../chain/logReader.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'

const uintText = z.codec(z.string().regex(/^\d{1,78}$/), z.bigint(), { decode: BigInt, encode: String })

/** A value of an event that may be shown: an amount (in base units), a deadline (Unix seconds) or a version number. */
const shownSchema = z.strictObject({
  name: z.enum(['amount', 'payout', 'supply', 'deadline', 'version']),
  unit: z.enum(['USDC', 'shares', 'time', 'count']),
  value: uintText,
})
export type Shown = z.output<typeof shownSchema>

/** The content of a log. */
type RawLog = Pick<ChainLog, 'topics' | 'data'>

/** The words of one event by the names of its fields, as unsigned numbers. */
type Words = (field: string) => bigint

const WORD_DIGITS = 64

/**
 * Reads the logs of one event: its indexed fields are topics, the others words of the data, in their order. Own code,
 * because ethers takes twenty times as long. https://docs.soliditylang.org/en/latest/abi-spec.html#events
 *
 * @returns null for the log of another event of the same signature
 */
export function createWordReader({ inputs }: EventFragment): (log: RawLog) => Words | null {
  const indexed = inputs.filter((input) => input.indexed).map(({ name }) => name)
  const others = inputs.filter((input) => !input.indexed).map(({ name }) => name)
  return ({ topics, data }) => {
    if (topics.length !== 1 + indexed.length || data.length < 2 + others.length * WORD_DIGITS) return null
    return (field) => {
      const topic = topics[1 + indexed.indexOf(field)]
      if (indexed.includes(field) && topic !== undefined) return BigInt(topic)
      const start = 2 + others.indexOf(field) * WORD_DIGITS
      return BigInt(`0x${data.slice(start, start + WORD_DIGITS)}`)
    }
  }
}

/** Which of the five contracts. */
type WatchedContract = keyof ContractAddresses

/** Reads one value that may be shown of an event; null when there is none. */
type Reading = (words: Words) => Shown | null

interface Row<Name> {
  readonly contract: WatchedContract
  readonly name: Name
  readonly says: string
  /** Only amounts, deadlines and version numbers; no other field of an event is ever read. */
  readonly shows: readonly Reading[]
}

/** Every event that is narrated: those that our contracts declare themselves, but for claims and the Authority. */
const ROWS = [
  row('institutionRegistry', 'InstitutionRegistered', 'institution registered'),
  row('institutionRegistry', 'AdminTransferred', 'admin transferred'),
  row('institutionRegistry', 'MemberUpdated', 'member updated'),
  row('orderEscrow', 'OrderOpened', 'order opened', usdc('amount'), deadline()),
  row('orderEscrow', 'OrderSettled', 'order settled', usdc('amount'), payout()),
  row('orderEscrow', 'OrderRefunded', 'order refunded', usdc('amount')),
  row('confidentialLedger', 'PortfolioUpdated', 'portfolio updated', version()),
  row('confidentialLedger', 'PolicyUpdated', 'rulebook updated', version()),
  row('equityToken', 'KycUpdated', 'kyc updated'),
  row('equityToken', 'ListingUpdated', 'listing updated'),
  row('equityToken', 'FreezeUpdated', 'freeze updated'),
  row('platformPool', 'BatchMinted', 'batch minted', shares('amount'), shares('supply')),
  row('platformPool', 'BatchBurned', 'batch burned', shares('amount'), shares('supply')),
]
type EventRow = (typeof ROWS)[number]
type EventName = EventRow['name']
export const EVENT_NAMES: readonly EventName[] = ROWS.map(({ name }) => name)

/** A narrated event. No other field of the event is ever read, so none can be printed or stored. */
export const narrationSchema = z.strictObject({ event: z.enum(EVENT_NAMES), values: z.array(shownSchema) })
export type Narration = z.output<typeof narrationSchema>

/** One printed line. `time` in Unix seconds. */
export type NarrationLine =
  | { readonly kind: 'event' | 'retraction'; readonly time: bigint; readonly narration: Narration }
  | { readonly kind: 'reset'; readonly time: bigint }

const TAGS: Record<WatchedContract, string> = {
  institutionRegistry: 'registry',
  orderEscrow: 'escrow',
  confidentialLedger: 'ledger',
  equityToken: 'token',
  platformPool: 'pool',
}

/** The contracts in the order of their queries. */
export const WATCHED: readonly WatchedContract[] = [
  'institutionRegistry',
  'orderEscrow',
  'confidentialLedger',
  'equityToken',
  'platformPool',
]

type Entry = EventRow & {
  /** Null for another contract's event of the same signature: a wrong address in the configuration. */
  readonly read: (log: RawLog) => Words | null
}

/** The entries of each contract by topic. */
const ENTRIES = new Map(WATCHED.map((contract) => [contract, entriesOf(contract)]))

function entriesOf(contract: WatchedContract): ReadonlyMap<Hex, Entry> {
  const rows = ROWS.filter((entry) => entry.contract === contract)
  return new Map(
    rows.map((entry) => {
      const fragment = interfaces[contract].getEvent(entry.name)
      if (fragment === null) throw new TypeError(`${contract} has no event ${entry.name}`)
      return [bytes32Schema.parse(fragment.topicHash), { ...entry, read: createWordReader(fragment) }]
    }),
  )
}

/** The first topics of a contract's narrated events, as a filter of `eth_getLogs` takes them. */
export function topicsOf(contract: WatchedContract): Hex[] {
  return [...(ENTRIES.get(contract)?.keys() ?? [])]
}

/** The narration of a log, or null when the table does not have it. */
export type Narrate = (log: ChainLog) => Narration | null

/** Narrates the logs of these contracts. */
export function createNarrate(contracts: ContractAddresses): Narrate {
  const entriesAt = new Map(
    WATCHED.map((contract) => [contracts[contract].toLowerCase(), ENTRIES.get(contract)]),
  )
  return (log) => {
    const [topic] = log.topics
    const entry = topic && entriesAt.get(log.address)?.get(topic)
    const words = entry?.read(log)
    if (!entry || !words) return null
    const values = entry.shows.map((show) => show(words)).filter((shown) => shown !== null)
    return { event: entry.name, values }
  }
}

const WORDS = new Map(ROWS.map(({ contract, name, says }) => [name, { tag: TAGS[contract], says }]))

/** The tag of an event's contract, and what the event says in words. */
export function wordsOf(event: EventName): { readonly tag: string; readonly says: string } {
  const found = WORDS.get(event)
  if (found === undefined) throw new TypeError(`the table has no ${event}`)
  return found
}

function row<Name extends string>(
  contract: WatchedContract,
  name: Name,
  says: string,
  ...shows: Reading[]
): Row<Name> {
  return { contract, name, says, shows }
}

function usdc(name: 'amount'): Reading {
  return (words) => ({ name, unit: 'USDC', value: words(name) })
}

function shares(name: 'amount' | 'supply'): Reading {
  return (words) => ({ name, unit: 'shares', value: words(name) })
}

function deadline(): Reading {
  return (words) => ({ name: 'deadline', unit: 'time', value: words('deadline') })
}

function version(): Reading {
  return (words) => ({ name: 'version', unit: 'count', value: words('version') })
}

const USDC_ASSET = BigInt(nameToBytes32('USDC'))

/** With its unit, because the amount means nothing without it. */
function payout(): Reading {
  return (words) => {
    const value = words('payout')
    if (value === 0n) return null
    return { name: 'payout', unit: words('payoutAsset') === USDC_ASSET ? 'USDC' : 'shares', value }
  }
}
