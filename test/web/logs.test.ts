import { type Filter, makeError } from 'ethers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLogTail, type LogsSoFar } from '../../web/chain/logs.js'
import type { ChainLog, LogSource } from '../../web/chain/parts.js'

const ADDRESS = `0x${'aa'.repeat(20)}` as const

function logIn(blockNumber: number, blockHash = `0x${blockNumber}`): ChainLog {
  return { address: ADDRESS, blockHash, blockNumber, index: 0, topics: [], data: '0x' }
}

/** A node that takes so many blocks at once. */
class Node implements LogSource {
  readonly asked: [from: number, to: number][] = []
  failure: unknown = null

  constructor(
    public head: number,
    public logs: ChainLog[],
    public takes = Number.POSITIVE_INFINITY,
  ) {}

  async getBlockNumber() {
    return this.head
  }

  async getLogs({ fromBlock, toBlock }: Filter) {
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    this.asked.push([from, to])
    if (this.failure !== null) throw this.failure
    if (to - from + 1 > this.takes) throw makeError('could not coalesce error', 'UNKNOWN_ERROR')
    return this.logs.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
  }
}

const tailOf = (node: Node, more: { fromBlock?: number; most?: number } = {}) =>
  createLogTail(node, { address: ADDRESS, fromBlock: 0, ...more })
const blocksOf = ({ logs }: { logs: readonly ChainLog[] }) => logs.map(({ blockNumber }) => blockNumber)

/** Makes a node refuse questions about more blocks than these, until the test lets it recover. */
function silentOver(node: Node, blocks: number): () => void {
  const answer = node.getLogs.bind(node)
  node.getLogs = async (filter) => {
    if (Number(filter.toBlock) - Number(filter.fromBlock) >= blocks) throw makeError('', 'TIMEOUT')
    return answer(filter)
  }
  return () => {
    node.getLogs = answer
  }
}

/** No answer, ever. */
const silence = () => new Promise<never>(() => {})

afterEach(() => {
  vi.useRealTimers()
})

describe('the logs of a chain', () => {
  it('are read from the newest to the first block on, in parts, and told oldest first', async () => {
    const node = new Node(4_500, [logIn(4_100), logIn(300), logIn(99)])
    expect(blocksOf(await tailOf(node, { fromBlock: 100 })())).toEqual([300, 4_100])
    expect(node.asked).toEqual([
      [4_489, 4_500],
      [2_489, 4_488],
      [100, 2_488],
    ])
  })

  it('are handed over part by part, the newest first', async () => {
    const node = new Node(4_500, [logIn(4_495), logIn(3_000), logIn(5)])
    const parts: LogsSoFar[] = []
    const all = await tailOf(node)({ onPart: (part) => void parts.push(part) })
    expect(parts.map(blocksOf)).toEqual([[4_495], [3_000, 4_495]])
    expect(parts.every(({ complete }) => !complete)).toBe(true)
    expect(all).toMatchObject({ complete: true, head: 4_500 })
  })

  it('of years come in parts that grow as long as the node takes them', async () => {
    const node = new Node(8_000_000, [logIn(7)])
    expect(blocksOf(await tailOf(node)())).toEqual([7])
    expect(node.asked.length).toBeLessThan(100)
  })

  it('are asked for in fewer blocks at a time of a node that fell silent over many', async () => {
    const node = new Node(300_000, [])
    const look = tailOf(node)
    silentOver(node, 20_000)
    await expect(look()).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(await look()).toMatchObject({ complete: true })
  })

  it('are asked for in more blocks again of a node that has come to itself', async () => {
    const node = new Node(8_000_000, [])
    const look = tailOf(node)
    const recover = silentOver(node, 2_000)
    await expect(look()).rejects.toMatchObject({ code: 'TIMEOUT' })
    recover()
    node.asked.length = 0
    expect(await look()).toMatchObject({ complete: true })
    expect(node.asked.length).toBeLessThan(500)
  })

  it('are asked for in as many blocks as ever of a node that was silent over few', async () => {
    const node = new Node(8_000_000, [])
    const look = tailOf(node)
    node.failure = new TypeError('Failed to fetch')
    await expect(look()).rejects.toBe(node.failure)
    node.failure = null
    expect(await look()).toMatchObject({ complete: true })
    expect(node.asked.length).toBeLessThan(100)
  })

  it('are read by one look at a time, and a look that is ended leaves off after its part', async () => {
    const node = new Node(9_000, [logIn(8_000), logIn(10)])
    const look = tailOf(node)
    const ended = new AbortController()
    const first = look({ signal: ended.signal, onPart: () => ended.abort() })
    const second = look()
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    expect(blocksOf(await second)).toEqual([10, 8_000])
    expect(node.asked.map(([from]) => from)).toEqual([8_989, 8_989, 6_989, 2_989, 0])
  })

  it.each(['getBlockNumber', 'getLogs'] as const)(
    'are asked for again when one %s was never answered',
    async (question) => {
      vi.useFakeTimers()
      const node = new Node(50, [logIn(48)])
      const look = tailOf(node)
      const silent = vi.spyOn(node, question).mockImplementationOnce(silence)
      const outcome = Promise.allSettled([look(), look()])
      await vi.runAllTimersAsync()
      expect(await outcome).toMatchObject([
        { status: 'rejected', reason: { code: 'TIMEOUT' } },
        { status: 'fulfilled', value: { complete: true } },
      ])
      expect(silent).toHaveBeenCalledTimes(question === 'getLogs' ? 3 : 2)
    },
  )

  it('are not waited for by a look that is ended while another one reads', async () => {
    const node = new Node(50, [logIn(48)])
    const look = tailOf(node)
    let answer = (_head: number) => {}
    const held = new Promise<number>((resolve) => {
      answer = resolve
    })
    const asked = vi.spyOn(node, 'getBlockNumber').mockReturnValueOnce(held)
    const first = look()
    const ended = new AbortController()
    const second = look({ signal: ended.signal })
    const third = look()
    ended.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
    expect(asked).toHaveBeenCalledTimes(1)
    answer(50)
    expect(blocksOf(await first)).toEqual([48])
    expect(blocksOf(await third)).toEqual([48])
  })

  it('are asked for once, but for blocks that may still be exchanged', async () => {
    const node = new Node(4_500, [logIn(4_400)])
    const look = tailOf(node)
    await look()
    node.asked.length = 0
    node.head = 4_510
    node.logs.push(logIn(4_510))
    expect(blocksOf(await look())).toEqual([4_400, 4_510])
    expect(node.asked).toEqual([[4_489, 4_510]])
  })

  it('are not all there while those of a long absence are being read', async () => {
    const node = new Node(50, [logIn(48)])
    const look = tailOf(node)
    expect(await look()).toMatchObject({ complete: true })
    node.head = 9_000
    node.logs.push(logIn(100), logIn(8_000))
    const parts: LogsSoFar[] = []
    const all = await look({ onPart: (part) => void parts.push(part) })
    expect(parts.map(blocksOf)).toEqual([
      [48, 100],
      [48, 100],
    ])
    expect(parts.map(({ complete, head }) => [complete, head])).toEqual([
      [false, 2_038],
      [false, 6_038],
    ])
    expect(blocksOf(all)).toEqual([48, 100, 8_000])
    expect(all).toMatchObject({ complete: true, head: 9_000 })
  })

  it('come in shorter parts from a node that refuses long ones', async () => {
    const node = new Node(3_000, [logIn(5), logIn(2_900)], 700)
    expect(blocksOf(await tailOf(node)())).toEqual([5, 2_900])
    expect(node.asked.length).toBeLessThan(12)
  })

  it('are given up where not even one block is given', async () => {
    const node = new Node(3_000, [], 0)
    await expect(tailOf(node)()).rejects.toMatchObject({ code: 'UNKNOWN_ERROR' })
    expect(node.asked.at(-1)).toEqual([2_989, 2_989])
  })

  it('of a silent node are not asked for in shorter parts', async () => {
    const node = new Node(3_000, [])
    node.failure = new TypeError('Failed to fetch')
    await expect(tailOf(node)()).rejects.toBe(node.failure)
    expect(node.asked).toHaveLength(1)
  })

  it('go on where a failure stopped them', async () => {
    const node = new Node(4_500, [logIn(7), logIn(4_100)])
    const look = tailOf(node)
    const getLogs = node.getLogs.bind(node)
    node.getLogs = async (filter) => {
      if (Number(filter.fromBlock) < 1_000) throw makeError('', 'NETWORK_ERROR', { event: 'x' })
      return getLogs(filter)
    }
    await expect(look()).rejects.toMatchObject({ code: 'NETWORK_ERROR' })
    node.getLogs = getLogs
    node.asked.length = 0
    expect(blocksOf(await look())).toEqual([7, 4_100])
    expect(node.asked).toEqual([
      [4_489, 4_500],
      [489, 2_488],
      [0, 488],
    ])
  })

  it('are neither lost nor told twice when the node’s head goes back', async () => {
    const node = new Node(50, [logIn(30), logIn(48)])
    const look = tailOf(node)
    await look()
    node.head = 45
    expect(await look()).toMatchObject({ head: 50 })
    node.head = 51
    expect(blocksOf(await look())).toEqual([30, 48])
  })

  it('of an exchanged block are replaced', async () => {
    const node = new Node(50, [logIn(48, '0xold'), logIn(49)])
    const look = tailOf(node)
    await look()
    node.logs = [logIn(48, '0xnew')]
    expect((await look()).logs.map(({ blockHash }) => blockHash)).toEqual(['0xnew'])
  })

  it('may be the newest ones alone', async () => {
    const node = new Node(50, [logIn(1), logIn(2), logIn(3)])
    expect(blocksOf(await tailOf(node, { most: 2 })())).toEqual([2, 3])
  })

  it.each([
    ['before it', [logIn(500), logIn(501), logIn(999)], [500, 501]],
    ['in its block', [logIn(500), { ...logIn(500), index: 1 }, logIn(999)], [500, 500]],
  ])(
    'may be the newest ones, and one %s again when the chain takes the newest back',
    async (_where, logs, left) => {
      const node = new Node(50, [])
      const look = tailOf(node, { most: 2 })
      await look()
      node.head = 1_000
      node.logs = logs
      expect((await look()).logs).toEqual(logs.slice(1))
      node.logs = logs.slice(0, 2)
      const all = await look()
      expect(blocksOf(all)).toEqual(left)
      expect(all).toMatchObject({ complete: true })
    },
  )
})
