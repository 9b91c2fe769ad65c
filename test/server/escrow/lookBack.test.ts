import { describe, expect, test } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import type { BlockId } from '../../../src/chain/logReader.js'
import { createRpc, type RpcCall } from '../../../src/chain/rpc.js'
import {
  createEscrowEvents,
  createLookBack,
  createRangeReader,
  type EscrowEvents,
} from '../../../src/server/escrow/escrowLogs.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)

/** Blocks in memory, each with one event, of which `failing` decides whether they are read. */
function setUp(length: number) {
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
  const lookBack = createLookBack({ events, ranges: createRangeReader(events, 100) })
  return { hashes, reads, node, lookBack, read: async () => lookBack.read(0, await events.head()) }
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
    expect(reads).toEqual(['0-99', '100-199', '200-299', '300-300'])
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
  const options = { rpc: { send }, logBlockRange: 10 }
  const { until } = await startTrigger(chain(), enclave, `${directory}/data`, options)
  await until(orderId, 'its run', ({ triggers }) => triggers[0]?.outcome === 'queued')
  expect(queries).toBeGreaterThan(3)
  expect(new Set(ranges).size).toBe(ranges.length)
})

test('a query that is refused for its rate is not taken for one of too many blocks', async () => {
  const { anvil, addresses } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  const events = createEscrowEvents({
    rpc: {
      async send(calls) {
        const answers = await rpc.send(calls)
        return answers.map((answer, index) =>
          calls[index]?.method === 'eth_getLogs' ? { error: { code: 429, message: 'slow down' } } : answer,
        )
      },
    },
    escrow: addresses.orderEscrow,
    stopping: new AbortController().signal,
  })
  await expect(events.read({ from: 0, to: 1 })).rejects.toThrow(ChainUnavailableError)
})
