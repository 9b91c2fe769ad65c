import { interfaces } from '../../src/chain/interfaces.js'
import { openedByCall } from '../../src/chain/openingCall.js'
import { sameAddress } from '../../src/protocol/address.js'
import type { Hex } from '../../src/protocol/hex.js'
import { holderOf } from '../../src/server/relay/gasBudget.js'
import type { RelayRecord } from '../../src/server/store/receipts.js'
import type { SignedOpening, Traders } from './traders.js'
import type { World } from './world.js'

/** An opening as the chain and the relay have it. */
interface OpeningFacts {
  readonly orderId: Hex
  readonly signed: SignedOpening
  /** Whether its employee counts on it. */
  readonly isPlaced: boolean
  /** The senders of the transactions that opened the order. */
  readonly openers: readonly string[]
  /** The relay's records of it. */
  readonly records: readonly Pick<RelayRecord, 'purpose'>[]
}

/** Holds every signed opening against the chain and the relay's records. */
export async function findOpeningFaults(
  world: World,
  traders: Traders,
  records: readonly RelayRecord[],
): Promise<string[]> {
  const openers = await readOpeners(world)
  const facts = [...traders.signed].map(([orderId, signed]) => ({
    ...{ orderId, signed, isPlaced: traders.placed.has(orderId) },
    openers: openers.get(orderId) ?? [],
    records: records.filter(({ data }) => openedByCall(data)?.orderId === orderId),
  }))
  return facts.flatMap((one) => faultsOf(one, world.chain.relayers))
}

/** An opening that a server has taken opens its order, once, by the relayer, on the account's quota. */
function faultsOf(
  { orderId, signed, isPlaced, openers, records }: OpeningFacts,
  relayers: readonly string[],
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
    ...openers
      .filter((opener) => !relayers.some((relayer) => sameAddress(opener, relayer)))
      .map((opener) => `was opened by ${opener}`),
    ...(isOpen && records.length !== 1 ? [`has ${records.length} records of the relay`] : []),
    ...payers.map(({ purpose }) => `is paid for by ${holderOf(purpose) ?? 'the platform'}`),
  ].map((fault) => `the opening of ${orderId} ${fault}`)
}

/** By order, the senders of the transactions that opened it. */
export async function readOpeners({ sandbox, contracts }: World): Promise<Map<string, string[]>> {
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
