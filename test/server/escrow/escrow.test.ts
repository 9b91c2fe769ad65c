import { expect, onTestFinished, test, vi } from 'vitest'
import { ChainAnswerError, ChainUnavailableError } from '../../../src/chain/errors.js'
import type { BlockId } from '../../../src/chain/logReader.js'
import { createRpc, type RpcCall } from '../../../src/chain/rpc.js'
import {
  createBackfill,
  createRangeReader,
  type EscrowEvents,
} from '../../../src/server/escrow/escrowLogs.js'
import { createEscrowPoller } from '../../../src/server/escrow/escrowPoller.js'
import { inspectOrders } from '../../../src/server/ops/checks.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { triggerUnderTest } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)

/** A chain of blocks in memory, each with one event that has its name, of which a part can be replaced. */
function createBlocks(length: number) {
  const hashes = Array.from({ length }, (_, number) => `old ${number}`)
  const reads: string[] = []
  const blockAt = (number: number): BlockId | null => {
    const name = hashes[number]
    return name === undefined ? null : { number, hash: bytes32(name) }
  }
  const events: EscrowEvents = {
    head: async () => blockAt(hashes.length - 1) ?? { number: 0, hash: '0x' },
    blockTime: async () => 0,
    async read({ from, to }) {
      const last = blockAt(to)
      if (last === null) return undefined
      reads.push(`${from}-${to}`)
      const inRange = hashes.slice(from, to + 1).map((id, index) => {
        const position = { block: from + index, logIndex: 0 }
        return { kind: 'settled', id, position, orderId: bytes32(id), txHash: bytes32(id) } as const
      })
      return { events: inRange, parent: blockAt(from - 1), last }
    },
  }
  return { hashes, reads, events }
}

function replaceFrom(hashes: string[], first: number, length: number): void {
  hashes.splice(first, hashes.length, ...Array.from({ length }, (_, index) => `new ${first + index}`))
}

test.each([
  ['is longer', 60],
  ['is shorter', 10],
  ['is as long', 30],
])('looking back reads replaced blocks again, where the new branch %s', async (_what, length) => {
  const { hashes, reads, events } = createBlocks(300)
  const backfill = createBackfill({ events, ranges: createRangeReader(events, 100) })
  const read = async () => backfill.read(0, await events.head())
  await read()
  replaceFrom(hashes, 270, length)
  const found = await eventually('an end', () => read().catch(() => undefined))
  expect(found.events.map(({ id }) => id)).toEqual(hashes)
  expect(reads.filter((range) => range === '0-99')).toHaveLength(1)
})

// test/server/trigger/reorganizations.test.ts has blocks that are replaced between two looks.
test('the poller notices a replacement between two pieces of one look', async () => {
  const { hashes, reads, events } = createBlocks(200)
  const dealtWith: string[] = []
  let looks = 0
  const poller = createEscrowPoller({
    events,
    ranges: createRangeReader(events, 100),
    intervalMs: 10,
    recover: async () => ({ block: await events.head(), events: [] }),
    onEvent: async ({ id }) => void dealtWith.push(id),
    onPolled: async () => void looks++,
    logger: createLogLines().logger,
  })
  const looked = async () => {
    const before = looks
    await eventually('two more looks', () => looks >= before + 2)
  }
  await poller.start()
  onTestFinished(() => poller.stop())
  await looked()
  const read = events.read
  let replaced = false
  events.read = async (range) => {
    const piece = await read(range)
    if (!replaced) replaceFrom(hashes, 250, 60)
    replaced = true
    return piece
  }
  hashes.push(...Array.from({ length: 110 }, (_, n) => `old ${200 + n}`))
  await looked()
  expect(reads.slice(0, 2)).toEqual(['200-299', '300-309'])
  expect(dealtWith.at(-1)).toBe('new 309')
  expect(dealtWith).toContain('new 250')
})

/** The chain's node, which may refuse a query of events. */
function atQueries(look: (query: RpcCall) => void) {
  const { anvil } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  return {
    async send(calls: readonly RpcCall[], signal?: AbortSignal) {
      const query = calls.find(({ method }) => method === 'eth_getLogs')
      if (query !== undefined) look(query)
      return rpc.send(calls, signal)
    },
  }
}

test('a start ends on a node that refuses every third query, and reads no range twice', async () => {
  const orderId = bytes32('A')
  await openFor(chain(), 'alice', orderId, await sealOrder('lost'))
  await chain().provider.send('anvil_mine', ['0x20'])
  const ranges: string[] = []
  let queries = 0
  const rpc = atQueries((query) => {
    if (++queries % 3 === 0) throw new ChainUnavailableError(1)
    ranges.push(JSON.stringify(query.params))
  })
  const { until } = await triggerUnderTest(chain(), {}, { rpc })
  await until(orderId, 'its run', ({ triggers }) => triggers[0]?.outcome === 'placed')
  expect(queries).toBeGreaterThan(3)
  expect(new Set(ranges).size).toBe(ranges.length)
})

test('orders are unread while a node without old events lets no start end, as its check says after half a minute', async () => {
  let hasLogs = false
  const rpc = atQueries(() => {
    if (!hasLogs) throw new ChainAnswerError('no logs so far back')
  })
  const server = await triggerUnderTest(chain(), {}, { rpc })
  const inspect = inspectOrders(server.trigger.backlog)
  /** The check as it answers at this time of the monotonic clock. */
  function inspectedAt(time: number) {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(time)
    const result = inspect()
    clock.mockRestore()
    return result
  }
  const later = performance.now() + 30_000
  expect(await inspect()).toBeNull()
  expect(await inspectedAt(later)).toBe('orders-unread')
  hasLogs = true
  await eventually('a complete poll', () => server.logText().includes('escrow events read again'))
  expect(await inspectedAt(later)).toBeNull()
  await server.stop()
  // Another server runs the orders.
  expect(await inspectedAt(later + 30_000)).toBeNull()
})
