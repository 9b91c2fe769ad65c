import { afterEach, expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import type { RpcAnswer, RpcCall } from '../../../src/chain/rpc.js'
import { queriesOf } from '../../../src/server/narrator/events.js'
import { createNarratorProgress, createNarratorTick } from '../../../src/server/narrator/poll.js'
import { createLogLines } from '../../support/logLines.js'
import { serverConfig } from '../../support/serverEnvironment.js'

afterEach(() => void vi.useRealTimers())

const START = 100
const MAX_RANGE = 10
const blockAt = (number: number) => ({
  result: {
    number: toQuantity(number),
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    timestamp: toQuantity(number),
  },
})

/** A narrator at the head of a chain that grows by so many blocks with every poll. */
function setUp() {
  const chain = { head: START, growth: 0, logs: [] as unknown[], plan: Number.POSITIVE_INFINITY, used: 0 }
  let isRefusing = false
  const answerTo = ({ method, params: [first] }: RpcCall): RpcAnswer => {
    if (method === 'eth_getLogs') return { result: JSON.stringify(first).includes(ESCROW) ? chain.logs : [] }
    return blockAt(first === 'latest' ? chain.head : Number(first))
  }
  const rpc = {
    faults: () => [isRefusing ? ('rate-limit' as const) : null],
    async send(calls: readonly RpcCall[]) {
      isRefusing = chain.used + calls.length > chain.plan
      if (isRefusing) throw new ChainUnavailableError(1)
      chain.used += calls.length
      if (calls.some(({ params: [first] }) => first === 'latest')) chain.head += chain.growth
      return calls.map(answerTo)
    },
  }
  const log = createLogLines()
  const progress = createNarratorProgress()
  const lines: unknown[] = []
  const tick = createNarratorTick({
    ...{ watched: async () => contracts, logRange: MAX_RANGE, confirmations: 1, rpc, progress },
    cursors: { load: async () => undefined, save: async () => undefined },
    print: async (more) => void lines.push(...more),
    stopping: new AbortController().signal,
    logger: log.logger,
  })
  /** Looks until there is a pause; how many it took, and what the last of them left. */
  const untilPause = async () => {
    let count = 1
    while ((await tick()) === 'again') {
      count++
      if (count > 100) throw new Error('it never rests')
    }
    const { block = 0, lag } = progress.last ?? {}
    return { count, lag, behindHead: chain.head - block }
  }
  return { chain, lines, log, untilPause }
}

const { contracts } = serverConfig().chain
const ESCROW = contracts.orderEscrow
const [, escrow] = queriesOf(contracts)
const [opened] = [escrow?.topics[0] ?? []].flat()

test('a poll reads what is new, in ranges that nodes take, without a pause between them', async () => {
  const { chain, untilPause } = setUp()
  await untilPause()
  expect(await untilPause()).toEqual({ count: 1, lag: 0, behindHead: 0 })
  chain.head += 3
  expect(await untilPause()).toEqual({ count: 1, lag: 0, behindHead: 0 })
  chain.head += 35
  expect(await untilPause()).toEqual({ count: 4, lag: 0, behindHead: 0 })
})

test('a chain that has a new block at every poll leaves pauses, and is not said to be behind', async () => {
  const { chain, untilPause } = setUp()
  await untilPause()
  chain.growth = 1
  for (let round = 0; round < 5; round++) {
    expect(await untilPause()).toEqual({ count: 1, lag: 0, behindHead: 0 })
  }
  chain.growth = MAX_RANGE + 1
  await expect(untilPause()).rejects.toThrow('it never rests')
})

test('an event of another form is logged, and holds up no other', async () => {
  const { chain, lines, log, untilPause } = setUp()
  await untilPause()
  chain.head++
  const word = blockAt(START + 1).result.hash
  const at = (logIndex: number, words: number) => ({
    ...{ address: ESCROW, blockNumber: toQuantity(START + 1), blockHash: word, transactionHash: word },
    ...{ logIndex: toQuantity(logIndex), topics: [opened, word, word] },
    data: `0x${word.slice(2).repeat(words)}`,
  })
  chain.logs = [at(0, 2), { ...at(1, 3), topics: [opened] }, at(2, 3)]
  expect(await untilPause()).toMatchObject({ behindHead: 0 })
  expect(log.text().match(/event not readable/g)).toHaveLength(2)
  expect(lines).toMatchObject([{ narration: { event: 'OrderOpened' } }])
})

test('a start reads more blocks than a second of a plan gives in several, once the plan is known', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { chain, untilPause } = setUp()
  chain.plan = 30
  const second = setInterval(() => {
    chain.used = 0
  }, 1_000)
  for (let tick = 0; tick < 5; tick++) {
    const found = untilPause().catch(() => undefined)
    await vi.advanceTimersByTimeAsync(10_000)
    if ((await found)?.lag !== 0) continue
    clearInterval(second)
    return
  }
  expect.unreachable('the blocks were never read')
})
