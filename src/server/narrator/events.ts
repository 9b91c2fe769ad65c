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
import { formatShares, formatTime, formatUsdc } from './format.js'

/** Which of the five contracts. */
export type WatchedContract = keyof ContractAddresses

/** Text of what may be shown of an event; null when there is nothing to show. */
type Shown = (words: Words) => string | null

interface Row {
  readonly contract: WatchedContract
  readonly name: string
  readonly says: string
  /** Only amounts, deadlines and version numbers; no other field of an event is ever read. */
  readonly shows: readonly Shown[]
}

/** The thirteen events that our contracts declare themselves. Those that they inherit are not narrated. */
const ROWS: readonly Row[] = [
  row('institutionRegistry', 'InstitutionRegistered', 'institution registered'),
  row('institutionRegistry', 'AdminTransferred', 'admin transferred'),
  row('institutionRegistry', 'MemberUpdated', 'member updated'),
  row('orderEscrow', 'OrderOpened', 'order opened', usdc('amount'), deadline('deadline')),
  row('orderEscrow', 'OrderSettled', 'order settled', usdc('amount'), payout('payout', 'payoutAsset')),
  row('orderEscrow', 'OrderRefunded', 'order refunded', usdc('amount')),
  row('confidentialLedger', 'PortfolioUpdated', 'portfolio updated', version('version')),
  row('confidentialLedger', 'PolicyUpdated', 'rulebook updated', version('version')),
  row('equityToken', 'KycUpdated', 'kyc updated'),
  row('equityToken', 'ListingUpdated', 'listing updated'),
  row('equityToken', 'FreezeUpdated', 'freeze updated'),
  row('platformPool', 'BatchMinted', 'batch minted', shares('amount'), supply('supply')),
  row('platformPool', 'BatchBurned', 'batch burned', shares('amount'), supply('supply')),
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

/** What an event says. */
export interface Narration {
  readonly tag: string
  readonly says: string
  readonly shows: readonly string[]
}

/** The narration of a contract's log, or null when the table does not have it. */
export function narrate(contract: WatchedContract, log: RawLog): Narration | null {
  const entry = ENTRIES.find(
    (candidate) => candidate.contract === contract && candidate.topic === log.topics[0],
  )
  const words = entry?.read(log)
  if (!entry || !words) return null
  const shows = entry.shows.map((show) => show(words)).filter((text) => text !== null)
  return { tag: CONTRACTS[contract].tag, says: entry.says, shows }
}

function row(contract: WatchedContract, name: string, says: string, ...shows: Shown[]): Row {
  return { contract, name, says, shows }
}

function usdc(field: string): Shown {
  return (words) => formatUsdc(words(field))
}

function shares(field: string): Shown {
  return (words) => formatShares(words(field))
}

function supply(field: string): Shown {
  return (words) => `supply ${formatShares(words(field))}`
}

function deadline(field: string): Shown {
  return (words) => `deadline ${formatTime(words(field))}`
}

function version(field: string): Shown {
  return (words) => `version ${words(field)}`
}

const USDC_ASSET = BigInt(nameToBytes32('USDC'))

/** Only the asset's unit: without it the amount would say nothing. */
function payout(amountField: string, assetField: string): Shown {
  return (words) => {
    const amount = words(amountField)
    if (amount === 0n) return null
    return `payout ${words(assetField) === USDC_ASSET ? formatUsdc(amount) : formatShares(amount)}`
  }
}
