import { interfaces } from '../../src/chain/interfaces.js'
import { openedByCall } from '../../src/chain/openingCall.js'
import { sameAddress } from '../../src/protocol/address.js'
import { holderOf } from '../../src/server/relay/gasBudget.js'
import type { RelayRecord } from '../../src/server/store/receipts.js'
import type { Traders } from './traders.js'
import type { World } from './world.js'

/**
 * Holds every signed opening against the chain and the relay's records: one that a server has taken opens its order by the relayer, on the
 * account's quota.
 */
export async function findOpeningFaults(
  world: World,
  { signed, placed }: Traders,
  records: readonly RelayRecord[],
): Promise<string[]> {
  const openers = await readOpeners(world)
  const isRelayer = (sender: string) => world.chain.relayers.some((one) => sameAddress(one, sender))
  return [...signed].flatMap(([orderId, { account, isTaken }]) => {
    const own = openers.get(orderId) ?? []
    const payers = records
      .filter(({ data }) => openedByCall(data)?.orderId === orderId)
      .map(({ purpose }) => purpose)
      .filter((purpose) => purpose.kind !== 'account' || !sameAddress(purpose.account, account))
    return [
      ...(isTaken && own.length === 0 ? ['was taken and is lost'] : []),
      ...(!placed.has(orderId) && own.length > 0
        ? ['was given up by its account, and opened all the same']
        : []),
      ...own.filter((opener) => !isRelayer(opener)).map((opener) => `was opened by ${opener}`),
      ...payers.map((purpose) => `is paid for by ${holderOf(purpose) ?? 'the platform'}`),
    ].map((fault) => `the opening of ${orderId} ${fault}`)
  })
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
