import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { TimelineEntry } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { useDesk } from './support/desk.js'
import type { Trader } from './support/trader.js'

const desk = useDesk()
const escrowInterface = new Interface(orderEscrowAbi)
const SELL_UNOWNED = { side: 'SELL', symbol: 'MSFT', maxSpend: 4_321n * ONE_USDC } as const

/** The whole timeline, as a page that follows it has it in the end. */
async function followed({ client }: Trader, orderId: Hex): Promise<TimelineEntry[]> {
  let entries: TimelineEntry[] = []
  for await (const timeline of client.followOrderTimeline(orderId, { pollMs: 200 }))
    entries = timeline.entries
  return entries
}

const kindsOf = (entries: readonly TimelineEntry[]) => entries.map(({ kind }) => kind)

/** Reads the transaction in which an order ended from the chain. */
async function endOnChain(orderId: Hex, event: 'OrderSettled' | 'OrderRefunded') {
  const { provider } = desk().sandbox
  const { escrow } = desk().contracts
  const topics = escrowInterface.encodeFilterTopics(event, [orderId])
  const [log, ...others] = await provider.getLogs({ address: escrow.address, topics, fromBlock: 0 })
  expect(others).toEqual([])
  const block = await provider.getBlock(log?.blockNumber ?? -1)
  const at = new Date((block?.timestamp ?? 0) * 1_000).toISOString()
  return { at, txHash: log?.transactionHash, blockNumber: log?.blockNumber }
}

it('the timeline of a settled buy tells of the order, the run, the relay and the chain', async () => {
  const [alice] = desk().traders
  const orderId = await alice.send({ side: 'BUY', symbol: 'AAPL', maxSpend: 1_234n * ONE_USDC })
  const entries = await followed(alice, orderId)
  expect(kindsOf(entries).slice(0, 2).sort()).toEqual(['opened', 'received'])
  expect(entries[2]).toMatchObject({ kind: 'triggered', attempt: 1, reason: 'received' })
  const { at, ...place } = await endOnChain(orderId, 'OrderSettled')
  const [relayed, transaction, settled, outcome] = entries.slice(-4)
  const digest = relayed?.kind === 'relayed' ? relayed.digest : undefined
  expect(relayed).toMatchObject({ kind: 'relayed', status: 'confirmed' })
  expect(transaction).toEqual({ kind: 'transaction', at, digest, status: 'confirmed', ...place })
  expect(settled).toEqual({ kind: 'settled', event: 'OrderSettled', at, ...place })
  expect(outcome).toMatchObject({ kind: 'outcome', outcome: 'settled' })
  expect(await desk().contracts.escrow.usedDigest(digest ?? '0x')).toBe(true)
})

it('the timeline of a refused order says that it was refunded, and not what it was', async () => {
  const [, bob] = desk().traders
  const orderId = await bob.send(SELL_UNOWNED)
  const entries = await followed(bob, orderId)
  expect(kindsOf(entries).slice(-4)).toEqual(['relayed', 'transaction', 'refunded', 'outcome'])
  const { at, ...place } = await endOnChain(orderId, 'OrderRefunded')
  expect(entries.at(-2)).toEqual({ kind: 'refunded', event: 'OrderRefunded', at, ...place })
  const text = JSON.stringify(entries)
  for (const secret of ['MSFT', 'SELL', '4321000000', 'insufficient']) expect(text).not.toContain(secret)
})
