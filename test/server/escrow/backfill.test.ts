import { describe, expect, test, vi } from 'vitest'
import { ChainAnswerError, ChainUnavailableError } from '../../../src/chain/errors.js'
import { createRpc, type RpcCall } from '../../../src/chain/rpc.js'
import { createBackfill, createRangeReader } from '../../../src/server/escrow/escrowLogs.js'
import { inspectOrders } from '../../../src/server/ops/checks.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startTrigger } from '../../support/triggerHarness.js'
import { createBlocks } from './blocksInMemory.js'

const chain = useChain(setUpInstitution)

function setUp(length: number) {
  const { events, ...blocks } = createBlocks(length)
  const backfill = createBackfill({ events, ranges: createRangeReader(events, 100) })
  return { ...blocks, read: async () => backfill.read(0, await events.head()) }
}

function replaceFrom(hashes: string[], first: number, length: number): void {
  hashes.splice(first, hashes.length, ...Array.from({ length }, (_, index) => `new ${first + index}`))
}

describe('looking back', () => {
  test('goes on after a failure, also when it was done already', async () => {
    const { hashes, reads, node, read } = setUp(300)
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
  ])('reads replaced blocks again, where the new branch %s', async (_what, length) => {
    const { hashes, reads, read } = setUp(300)
    await read()
    replaceFrom(hashes, 270, length)
    const found = await eventually('an end', () => read().catch(() => undefined))
    expect(found.events.map(({ id }) => id)).toEqual(hashes)
    expect(reads.filter((range) => range === '0-99')).toHaveLength(1)
  })
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
