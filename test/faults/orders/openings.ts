import { z } from 'zod'
import { interfaces } from '../../../src/chain/interfaces.js'
import { openedByCall } from '../../../src/chain/openingCall.js'
import { sameAddress } from '../../../src/protocol/address.js'
import { type Hex, hexBetween } from '../../../src/protocol/hex.js'
import { holderOf } from '../../../src/server/relay/gasBudget.js'
import { MAX_TRANSACTION_BYTES } from '../../../src/server/signer/transaction.js'
import { type RelayRecord, relayRecordSchema } from '../../../src/server/store/receipts.js'
import { storedRows, storedSums } from '../../support/storedRows.js'
import type { Desk, Platform } from './platform.js'
import type { SignedOpening, Traders } from './traders.js'

/** An opening as the chain and the relay have it. */
export interface OpeningFacts {
  readonly orderId: Hex
  readonly signed: SignedOpening
  /** Whether its employee counts on it. */
  readonly isPlaced: boolean
  /** The senders of the transactions that opened the order. */
  readonly openers: readonly string[]
  /** The relay's records of it. */
  readonly records: readonly Pick<RelayRecord, 'purpose'>[]
}

/** Holds every signed opening against the chain, the relay's records and the quotas. */
export async function findOpeningFaults(platform: Platform, traders: Traders): Promise<string[]> {
  const relays = recordsIn(platform.dataDir)
  const openers = await readOpeners(platform)
  const relayer = platform.sandbox.accounts.relayer.address
  const facts = [...traders.signed].map(([orderId, signed]) => ({
    ...{ orderId, signed, isPlaced: traders.placed.has(orderId) },
    openers: openers.get(orderId) ?? [],
    records: relays.filter(({ data }) => openedByCall(data)?.orderId === orderId),
  }))
  return [
    ...facts.flatMap((one) => faultsOf(one, relayer)),
    ...quotaFaults(relays, countIn(platform.dataDir)),
  ]
}

/** Counts the signed openings, those that a server has taken, and the orders that stand on one. */
export function countOpenings({ signed, placed }: Pick<Traders, 'signed' | 'placed'>) {
  return {
    signed: signed.size,
    taken: [...signed.values()].filter(({ isTaken }) => isTaken).length,
    sponsored: [...signed.keys()].filter((orderId) => placed.has(orderId)).length,
  }
}

/** An opening that a server has taken opens its order, once, by the relayer, on the account's quota. */
export function faultsOf(
  { orderId, signed, isPlaced, openers, records }: OpeningFacts,
  relayer: Hex,
): string[] {
  const isOpen = openers.length > 0
  const payers = records.filter(
    ({ purpose }) => purpose.kind !== 'account' || !sameAddress(purpose.account, signed.account),
  )
  return [
    ...(openers.length > 1 ? [`was opened ${openers.length} times`] : []),
    ...(isPlaced && !isOpen ? ['is not open'] : []),
    ...(!isPlaced && signed.isTaken && !isOpen ? ['was taken and is lost'] : []),
    ...(!isPlaced && isOpen ? ['was given up by its account, and opened all the same'] : []),
    ...openers.filter((opener) => !sameAddress(opener, relayer)).map((opener) => `was opened by ${opener}`),
    ...(isOpen && records.length !== 1 ? [`has ${records.length} records of the relay`] : []),
    ...payers.map(({ purpose }) => `is paid for by ${holderOf(purpose) ?? 'the platform'}`),
  ].map((fault) => `the opening of ${orderId} ${fault}`)
}

/** A transaction that a reorganization mined again may use a little more gas than was counted for it the first time. */
const UNCOUNTED_PERCENT = 5n

type CountedRecord = Pick<RelayRecord, 'purpose'> & {
  readonly receipt: Pick<RelayRecord['receipt'], 'gasUsed' | 'createdAt'>
}

interface GasCount {
  readonly day: number
  readonly holders: readonly { readonly holder: string; readonly gas: bigint }[]
}

/** The count covers the gas that each holder's transactions used on its day. */
export function quotaFaults(relays: readonly CountedRecord[], count: GasCount | undefined): string[] {
  const used = new Map<Hex, bigint>()
  for (const { purpose, receipt } of relays) {
    const holder = holderOf(purpose)
    if (holder === undefined || (count !== undefined && dayOf(receipt.createdAt) !== count.day)) continue
    used.set(holder, (used.get(holder) ?? 0n) + (receipt.gasUsed ?? 0n))
  }
  return [...used].flatMap(([holder, gas]) => {
    const counted = count?.holders.find((one) => sameAddress(one.holder, holder))?.gas ?? 0n
    const least = gas - (gas * UNCOUNTED_PERCENT) / 100n
    return counted >= least ? [] : [`the quota of ${holder} counts ${counted} gas of ${gas}`]
  })
}

const dayOf = (iso: string) => Math.floor(Date.parse(iso) / 86_400_000)

/** Of the newest day. */
function countIn(dataDir: string): GasCount | undefined {
  const sums = storedSums(dataDir)
  if (sums.length === 0) return undefined
  const day = Math.max(...sums.map((sum) => sum.day))
  const ofDay = sums.filter((sum) => sum.day === day)
  return { day, holders: ofDay.map(({ id, used }) => ({ holder: id, gas: used })) }
}

function recordsIn(dataDir: string): RelayRecord[] {
  return storedRows(dataDir, 'relays').map(({ doc }) => relayRecordSchema.parse(JSON.parse(doc)))
}

/** By order, the senders of the transactions that opened it. */
async function readOpeners({ sandbox, contracts }: Desk): Promise<Map<string, string[]>> {
  const { provider } = sandbox
  const filter = { address: contracts.escrow.address, topics: [OPENED], fromBlock: 0, toBlock: 'latest' }
  const openers = new Map<string, string[]>()
  for (const { topics, transactionHash } of await provider.getLogs(filter)) {
    const orderId = topics[1] ?? ''
    const from = (await provider.getTransaction(transactionHash))?.from ?? 'unknown'
    openers.set(orderId, [...(openers.get(orderId) ?? []), from])
  }
  return openers
}

const OPENED = interfaces.orderEscrow.getEvent('OrderOpened')?.topicHash ?? ''

const poolSchema = z.object({
  pending: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ input: hexBetween(0, MAX_TRANSACTION_BYTES) })),
  ),
})

/** Lists the orders that transactions of the relayer in the node's pool open. */
export async function pooledOpenings({ sandbox }: Pick<Desk, 'sandbox'>): Promise<Hex[]> {
  const { pending } = poolSchema.parse(await sandbox.provider.send('txpool_content', []))
  const { address } = sandbox.accounts.relayer
  const sent = Object.entries(pending).flatMap(([from, transactions]) =>
    sameAddress(from, address) ? Object.values(transactions) : [],
  )
  return sent.flatMap(({ input }) => openedByCall(input)?.orderId ?? [])
}
