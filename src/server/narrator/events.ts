import { Interface, type InterfaceAbi } from 'ethers'
import { confidentialLedgerAbi } from '../../chain/generated/confidentialLedgerAbi.js'
import { equityTokenAbi } from '../../chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../chain/generated/institutionRegistryAbi.js'
import { orderEscrowAbi } from '../../chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../chain/generated/platformPoolAbi.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import { createWordReader, type RawLog, type Words } from './eventWords.js'
import type { EventName, Narration, Shown } from './narration.js'

/** Which of the five contracts. */
export type WatchedContract = keyof ContractAddresses

/** Reads what may be shown of an event; null when there is nothing to show. */
type Reading = (words: Words) => Shown | null

interface Row {
  readonly contract: WatchedContract
  readonly name: EventName
  readonly says: string
  /** Only amounts, deadlines and version numbers; no other field of an event is ever read. */
  readonly shows: readonly Reading[]
}

/**
 * The thirteen events of the product. Those of claims and of the Authority are not narrated, nor those that the
 * contracts inherit.
 */
const ROWS: readonly Row[] = [
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

const CONTRACTS: Record<WatchedContract, { tag: string; abi: InterfaceAbi }> = {
  institutionRegistry: { tag: 'registry', abi: institutionRegistryAbi },
  orderEscrow: { tag: 'escrow', abi: orderEscrowAbi },
  confidentialLedger: { tag: 'ledger', abi: confidentialLedgerAbi },
  equityToken: { tag: 'token', abi: equityTokenAbi },
  platformPool: { tag: 'pool', abi: platformPoolAbi },
}

/** The contracts in the order in which they are asked. */
export const WATCHED: readonly WatchedContract[] = [
  'institutionRegistry',
  'orderEscrow',
  'confidentialLedger',
  'equityToken',
  'platformPool',
]

interface Entry extends Row {
  readonly topic: Hex
  /** Null for another contract's event of the same signature: a wrong address in the configuration. */
  readonly read: (log: RawLog) => Words | null
}

const ENTRIES: readonly Entry[] = ROWS.map((entry) => {
  const fragment = new Interface(CONTRACTS[entry.contract].abi).getEvent(entry.name)
  if (fragment === null) throw new TypeError(`${entry.contract} has no event ${entry.name}`)
  return { ...entry, topic: bytes32Schema.parse(fragment.topicHash), read: createWordReader(fragment) }
})

/** The first topics of a contract's narrated events, as a filter of `eth_getLogs` takes them. */
export function topicsOf(contract: WatchedContract): Hex[] {
  return ENTRIES.filter((entry) => entry.contract === contract).map(({ topic }) => topic)
}

/** The narration of a contract's log, or null when the table does not have it. */
export function narrate(contract: WatchedContract, log: RawLog): Narration | null {
  const entry = ENTRIES.find(
    (candidate) => candidate.contract === contract && candidate.topic === log.topics[0],
  )
  const words = entry?.read(log)
  if (!entry || !words) return null
  const values = entry.shows.map((show) => show(words)).filter((shown) => shown !== null)
  return { event: entry.name, values }
}

const WORDS = new Map(ROWS.map(({ contract, name, says }) => [name, { tag: CONTRACTS[contract].tag, says }]))

/** The tag of an event's contract, and what the event says in words. */
export function wordsOf(event: EventName): { readonly tag: string; readonly says: string } {
  const found = WORDS.get(event)
  if (found === undefined) throw new TypeError(`the table has no ${event}`)
  return found
}

function row(contract: WatchedContract, name: EventName, says: string, ...shows: Reading[]): Row {
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

/** Only the asset's unit: without it the amount would say nothing. */
function payout(): Reading {
  return (words) => {
    const value = words('payout')
    if (value === 0n) return null
    return { name: 'payout', unit: words('payoutAsset') === USDC_ASSET ? 'USDC' : 'shares', value }
  }
}
