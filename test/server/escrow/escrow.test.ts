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
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)

/** A chain of blocks in memory, each with one event that has its name, of which a part can be replaced or not be read. */
function createBlocks(length: number) {
  const hashes = Array.from({ length }, (_, number) => `old ${number}`)
  const reads: string[] = []
  const node = { fails: (_from: number) => false }
  const blockAt = (number: number): BlockId | null => {
    const name = hashes[number]
    return name === undefined ? null : { number, hash: bytes32(name) }
  }
  const events: EscrowEvents = {
    head: async () => blockAt(hashes.length - 1) ?? { number: 0, hash: '0x' },
    blockTime: async () => 0,
    async read({ from, to }) {
      if (node.fails(from)) throw new ChainUnavailableError(1)
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
  return { hashes, reads, node, events }
}

function setUpBackfill(length: number) {
  const { events, ...blocks } = createBlocks(length)
  const backfill = createBackfill({ events, ranges: createRangeReader(events, 100) })
  return { ...blocks, read: async () => backfill.read(0, await events.head()) }
}

function replaceFrom(hashes: string[], first: number, length: number): void {
  hashes.splice(first, hashes.length, ...Array.from({ length }, (_, index) => `new ${first + index}`))
}

test('looking back goes on after a failure, also when it was done already', async () => {
  const { hashes, reads, node, read } = setUpBackfill(300)
  node.fails = (from) => from === 200
  await expect(read()).rejects.toThrow(ChainUnavailableError)
  node.fails = () => false
  expect((await read()).block.number).toBe(299)
  hashes.push('one more')
  const { events, block } = await read()
  expect(reads).toEqual(['0-99', '100-199', '200-249', '250-299', '300-300'])
  expect(events.map(({ id }) => id)).toEqual(hashes)
  expect(block).toEqual({ number: 300, hash: bytes32('one more') })
})

test.each([
  ['is longer', 60],
  ['is shorter', 10],
  ['is as long', 30],
])('looking back reads replaced blocks again, where the new branch %s', async (_what, length) => {
  const { hashes, reads, read } = setUpBackfill(300)
  await read()
  replaceFrom(hashes, 270, length)
  const found = await eventually('an end', () => read().catch(() => undefined))
  expect(found.events.map(({ id }) => id)).toEqual(hashes)
  expect(reads.filter((range) => range === '0-99')).toHaveLength(1)
})

// test/server/trigger/reorganisation.test.ts has blocks that are replaced between two looks.
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

test('a start ends on a node that refuses every third query, and reads no range twice', async () => {
  const { anvil } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  const orderId = bytes32('A')
  await openFor(chain(), 'alice', orderId, await sealOrder('lost'))
  await chain().provider.send('anvil_mine', ['0x20'])
  const ranges: string[] = []
  let queries = 0
  async function send(calls: readonly RpcCall[], signal?: AbortSignal) {
    const query = calls.find(({ method }) => method === 'eth_getLogs')
    if (query === undefined) return rpc.send(calls, signal)
    if (++queries % 3 === 0) throw new ChainUnavailableError(1)
    ranges.push(JSON.stringify(query.params))
    return rpc.send(calls, signal)
  }
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [{ outcome: 'queued', retryAt: 4_000_000_000 }] })
  const { until } = await startTrigger(chain(), enclave, `${directory}/data`, { rpc: { send } })
  await until(orderId, 'its run', ({ triggers }) => triggers[0]?.outcome === 'queued')
  expect(queries).toBeGreaterThan(3)
  expect(new Set(ranges).size).toBe(ranges.length)
})

test('orders are unread while a node without old events lets no start end, as its check says after half a minute', async () => {
  const { anvil } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  let hasLogs = false
  async function send(calls: readonly RpcCall[], signal?: AbortSignal) {
    if (!hasLogs && calls.some(({ method }) => method === 'eth_getLogs'))
      throw new ChainAnswerError('no logs so far back')
    return rpc.send(calls, signal)
  }
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  const server = await startTrigger(chain(), enclave, `${directory}/data`, { rpc: { send } })
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
