// Lists of the chain's events, at nodes of every temper. The stand-in answers JSON-RPC; test/client/lists.test.ts reads a real chain.
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import {
  ClientError,
  type Eip1193Provider,
  type HistoryStore,
  type ListOptions,
  type LogList,
} from '../../src/client/index.js'
import { listLogs } from '../../src/client/logList.js'
import type { Hex } from '../../src/protocol/hex.js'
import { createMemoryDevice, NO_DEVICE } from '../support/memoryDevice.js'

const ADDRESS: Hex = `0x${'aa'.repeat(20)}`
const QUERY: Parameters<typeof listLogs>[1] = { addresses: [ADDRESS] }
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const quantity = (value: number) => `0x${value.toString(16)}`

interface Place {
  readonly block: number
  readonly index?: number
  /** The branch that has the block. */
  readonly branch?: number
}

const filterSchema = z.object({ fromBlock: z.coerce.number(), toBlock: z.coerce.number() })

class Node implements Eip1193Provider {
  readonly asked: [from: number, to: number][] = []
  /** Called before each answer; what it throws is the answer. */
  before: (method: string, from: number, to: number) => unknown = () => undefined
  chainId = '0x1'
  /** Blocks up to this one have other hashes. */
  replacedTo = -1

  constructor(
    public head: number,
    public logs: Place[],
  ) {}

  async request({ method, params }: Parameters<Eip1193Provider['request']>[0]): Promise<unknown> {
    const [first]: unknown[] = Array.isArray(params) ? params : []
    if (method === 'eth_chainId') return this.chainId
    if (method === 'eth_getBlockByNumber') {
      await this.before(method, 0, 0)
      const number = first === 'latest' ? this.head : Number(first)
      return number > this.head ? null : this.blockOf(number)
    }
    const { fromBlock: from, toBlock: to } = filterSchema.parse(first)
    this.asked.push([from, to])
    await this.before(method, from, to)
    return this.logs
      .filter(({ block }) => block >= from && block <= to)
      .map(({ block, index = 0 }) => ({
        ...{ address: ADDRESS, topics: [word(1)], data: '0x', transactionHash: word(block) },
        ...{ blockNumber: quantity(block), blockHash: this.hashOf(block), logIndex: quantity(index) },
      }))
  }

  private hashOf(number: number): Hex {
    const branch = number <= this.replacedTo ? 2 : this.logs.find(({ block }) => block === number)?.branch
    return word(number + 1_000_000 * (branch ?? 0))
  }

  private blockOf(number: number) {
    return { number: quantity(number), hash: this.hashOf(number), timestamp: '0x1' }
  }
}

/** Reads a list to its end. @returns what it yields */
async function partsOf(node: Node, options?: ListOptions<LogList>, query = QUERY): Promise<LogList[]> {
  const parts: LogList[] = []
  for await (const part of listLogs(node, query, options)) parts.push(part)
  return parts
}

async function read(node: Node, options?: ListOptions<LogList>): Promise<LogList> {
  return (await partsOf(node, options)).at(-1) ?? expect.fail('the list yields nothing')
}

const blocksOf = ({ logs }: Pick<LogList, 'logs'>) => logs.map(({ blockNumber }) => blockNumber)
const at = (...blocks: number[]) => blocks.map((block) => ({ block }))

it('a list is read from the newest to the first block on, in pieces, and told oldest first', async () => {
  const node = new Node(4_500, at(4_100, 300, 99))
  const parts = await partsOf(node, { fromBlock: 100, maxBlocks: 2_000 })
  expect(parts.map(blocksOf)).toEqual([[], [4_100], [4_100], [300, 4_100]])
  expect(parts.map(({ isComplete }) => isComplete)).toEqual([false, false, false, true])
  expect(node.asked.join(' ')).toBe('4489,4500 2489,4488 489,2488 100,488')
})

it('a list is read on from where an earlier call ended, but for blocks that may still be replaced', async () => {
  const node = new Node(4_500, at(4_400))
  const before = await read(node)
  node.asked.length = 0
  node.head = 4_510
  node.logs.push({ block: 4_510 })
  expect(blocksOf(await read(node, { resume: before }))).toEqual([4_400, 4_510])
  expect(node.asked).toEqual([[4_489, 4_510]])
})

it('a list is not complete while the blocks of a long absence are being read', async () => {
  const node = new Node(50, at(48))
  const before = await read(node)
  node.head = 9_000
  node.logs.push(...at(100, 8_000))
  const parts = await partsOf(node, { resume: before, maxBlocks: 4_000 })
  const seen = parts.map(({ logs, isComplete, read: range }) => [logs.length, isComplete, range?.to])
  expect(seen.join(' ')).toBe('2,false,2038 2,false,6038 3,false,8988 3,true,9000')
})

it('a list asks for far fewer blocks where its provider finds an answer too long for a page, and fails where that is one block', async () => {
  const node = new Node(6_011, at(...Array.from({ length: 80 }, (_, index) => 3_900 + index)))
  let most = 40
  node.before = (_method, from, to) => {
    const found = node.logs.filter(({ block }) => block >= from && block <= to).length
    if (found > most) throw new ClientError('too-much-to-read', 'too long')
  }
  expect((await read(node)).logs).toHaveLength(80)
  const lengths = node.asked.map(([from, to]) => to - from + 1)
  expect(lengths).toEqual([
    12, 2_000, 4_000, 250, 15, 30, 60, 3, 6, 12, 24, 48, 96, 192, 384, 768, 1_536, 886,
  ])
  most = 0
  await expect(read(node)).rejects.toMatchObject({ code: 'too-much-to-read' })
})

it('a list asks a slow node for half as many blocks at once, and fails only where that is a first query', async () => {
  const node = new Node(60_000, at(5))
  let most = 8_000
  node.before = (_method, from, to) => {
    if (to - from >= most) throw gatewayError(504)
  }
  expect(blocksOf(await read(node))).toEqual([5])
  expect(Math.max(...node.asked.slice(5).map(([from, to]) => to - from + 1))).toBe(8_000)
  most = 1_000
  await expect(read(node)).rejects.toMatchObject({ code: 'node-timeout' })
})

it('a list is kept between visits: the second has its items at once, and reads the new blocks alone', async () => {
  const [store, node] = [createMemoryDevice(), new Node(4_500, at(99, 4_400))]
  await read(node, { store })
  node.asked.length = 0
  node.head = 4_600
  node.logs.push({ block: 4_550 })
  const parts = await partsOf(node, { store })
  expect(parts.map(blocksOf)).toEqual([
    [99, 4_400],
    [99, 4_400, 4_550],
    [99, 4_400, 4_550],
  ])
  expect(parts.map(({ isComplete }) => isComplete)).toEqual([false, false, true])
  expect(node.asked.join(' ')).toBe('4489,4588 4589,4600')
  // Another chain has a list of its own.
  node.chainId = '0x2'
  expect(blocksOf((await partsOf(node, { store }))[0] ?? { logs: [] })).toEqual([])
  expect(store.kept.size).toBe(2)
})

it.each([
  ['whose last settled block is no longer on the chain', { replacedTo: 4_500 }, 4_500],
  ['of a longer chain', { head: 400 }, 400],
])('a kept list %s is read anew', async (_, change, to) => {
  const [store, node] = [createMemoryDevice(), new Node(4_500, at(99, 4_400))]
  await read(node, { store })
  Object.assign(node, change, { logs: at(300) })
  const anew = { logs: [{ blockNumber: 300 }], read: { from: 0, to }, isComplete: true }
  expect(await read(node, { store })).toMatchObject(anew)
  expect(blocksOf(await read(node, { store }))).toEqual([300])
})

it('a list is kept while it is read, so that a visit that is broken off leaves its blocks to the next one', async () => {
  const [store, node] = [createMemoryDevice(), new Node(9_000, at(5, 8_000))]
  node.before = (_method, from, to) => {
    if (to > 0 && from < 2_000) throw new TypeError('Failed to fetch')
  }
  await expect(read(node, { store })).rejects.toMatchObject({ code: 'node-unavailable' })
  node.before = () => undefined
  node.asked.length = 0
  expect((await partsOf(node, { store })).map(blocksOf)).toEqual([[8_000], [8_000], [8_000], [5, 8_000]])
  expect(node.asked.at(-1)).toEqual([0, 988])
})

it('a long list is kept in lines of a few rows, and read from them as from the one line of earlier versions', async () => {
  const many = Array.from({ length: 1_200 }, (_, index) => ({ block: 30, index }))
  const [store, node] = [createMemoryDevice(), new Node(50, many)]
  const whole = await read(node, { store })
  const [[name, bytes] = ['', new Uint8Array()]] = store.kept
  const lines = new TextDecoder().decode(bytes).split('\n')
  expect(lines.map((line) => JSON.parse(line).logs.length)).toEqual([500, 500, 200])
  const firstOf = async () => (await partsOf(node, { store }))[0]
  expect(await firstOf()).toEqual({ ...whole, isComplete: false })
  await store.set(name, new TextEncoder().encode(JSON.stringify(whole)))
  expect(await firstOf()).toEqual({ ...whole, isComplete: false })
  // A store that broke off has no list, rather than a part of one.
  await store.set(name, bytes.subarray(0, bytes.length - 9))
  expect((await firstOf())?.read).toEqual({ from: 39, to: 50 })
})

it.each<[string, HistoryStore]>([
  ['fails', NO_DEVICE],
  ['has other bytes', { ...NO_DEVICE, get: async () => new TextEncoder().encode('{"items":3}') }],
])('a list is read all the same where its store %s', async (_how, store) => {
  expect(blocksOf(await read(new Node(50, at(7, 48)), { store }))).toEqual([7, 48])
})

it('the newest settled one of events that each say a whole state stays, and every one that a reorganization may end', async () => {
  const node = new Node(4_500, at(7, 4_000, 4_490, 4_495))
  const states = await partsOf(node, {}, { ...QUERY, isState: true })
  expect(states.map(blocksOf).at(-1)).toEqual([4_000, 4_490, 4_495])
})

const refusal = { code: -32_614, message: 'eth_getLogs is limited to a 700 block range' }
const gateway = (status: number, responseBody = '') => ({
  code: 'SERVER_ERROR',
  info: { responseStatus: `${status} Status`, responseBody },
})

it.each([
  ['as JSON-RPC', refusal],
  ['inside of a wallet’s error', { code: -32_603, data: { originalError: refusal } }],
  ['with a status of 400', gateway(400, JSON.stringify({ error: refusal }))],
  ['with a status of 413', gateway(413)],
])('a list comes in shorter pieces from a node that refuses long ones %s', async (_how, error) => {
  const node = new Node(3_000, at(5, 2_900))
  node.before = (_method, from, to) => {
    if (to - from >= 700) throw Object.assign(new Error('no'), error)
  }
  expect(blocksOf(await read(node))).toEqual([5, 2_900])
  expect(node.asked.length).toBeLessThan(20)
})

const gatewayError = (status: number) => Object.assign(new Error('no'), gateway(status))

it.each([
  ['too-much-to-read', refusal],
  ['node-rate-limited', gateway(429)],
  ['node-timeout', gateway(504)],
  ['node-timeout', { code: 'TIMEOUT' }],
  ['node-unavailable', gateway(503)],
  ['node-unavailable', { code: 'ECONNREFUSED' }],
])('a list that fails says %s of a node with the error %o', async (code, error) => {
  const node = new Node(3_000, [])
  node.before = (method) => {
    if (method === 'eth_getLogs') throw Object.assign(new Error('no'), error)
  }
  await expect(read(node)).rejects.toMatchObject({ code, retryable: code.startsWith('node-') })
})

it('a list ends with the reason of its signal, also while the node is silent', async () => {
  const node = new Node(3_000, [])
  const ended = new AbortController()
  node.before = () => {
    setTimeout(() => ended.abort(new Error('the page is gone')))
    return new Promise<never>(() => undefined)
  }
  await expect(read(node, { signal: ended.signal })).rejects.toThrow('the page is gone')
})

it('a list fails once a node has been silent for half a minute', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const node = new Node(3_000, [])
  node.before = () => new Promise(() => undefined)
  const failure = read(node).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(29_999)
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(await failure).toMatchObject({ code: 'node-timeout' })
})

it('a list has the events of the new branch alone after a reorganization', async () => {
  const node = new Node(50, [{ block: 48 }, { block: 49 }])
  const before = await read(node)
  node.logs = [{ block: 48, branch: 1 }]
  expect((await read(node, { resume: before })).logs.map(({ blockHash }) => blockHash)).toEqual([
    word(1_000_048),
  ])
})

it.each<[string, Place[], number[]]>([
  ['before it', at(500, 501, 999), [500, 501]],
  ['in its block', [{ block: 500 }, { block: 500, index: 1 }, { block: 999 }], [500, 500]],
])(
  'a list may have the newest events alone, and one %s again when the chain takes the newest back',
  async (_where, logs, left) => {
    const node = new Node(50, [])
    let last = await read(node, { limit: 2 })
    node.head = 1_000
    node.logs = logs
    last = await read(node, { limit: 2, resume: last })
    expect(blocksOf(last)).toEqual(logs.slice(1).map(({ block }) => block))
    node.logs = logs.slice(0, 2)
    last = await read(node, { limit: 2, resume: last })
    expect(blocksOf(last)).toEqual(left)
    expect(last.isComplete).toBe(true)
  },
)
