import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { createNarratorProgress } from '../../../src/server/narrator/poll.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type Fault, REFUSAL, startFaultProxy } from '../../support/faultProxy.js'
import { openBuy, setUpInstitution, usd } from '../../support/institution.js'
import { setStoredText, storedText } from '../../support/storedRows.js'
import { takeOver } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import {
  cursorAt,
  type NarratorUnderTest,
  narratorAtHead,
  severalTicks,
  startNarrator,
  untimed,
} from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)

/** Opens buys of so many USDC, one block each. */
async function buys(...amounts: number[]): Promise<void> {
  for (const amount of amounts) await openBuy(chain(), 'alice', `buy of ${amount}`, usd(amount))
}

/** The amounts told so far, in order; NaN for a line that tells none. */
const told = (lines: readonly string[]) => lines.map((line) => Number(/(\d+)\.00 USDC/.exec(line)?.[1]))
/** The same of orders alone. */
const opened = (lines: readonly string[]) => told(lines.filter((line) => line.includes('order opened')))

const atHead = async (options: { rpcUrl?: string; env?: Record<string, string> } = {}) => {
  const dataDir = await temporaryDirectory()
  return { dataDir, narrator: await narratorAtHead({ chain: chain(), dataDir, ...options }) }
}

const caughtUp = async (narrator: NarratorUnderTest) =>
  cursorAt(narrator, await chain().provider.getBlockNumber())

describe('the cursor', () => {
  test('starts at the head: no earlier event is narrated', async () => {
    await buys(1)
    const { narrator } = await atHead()
    await buys(2)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([2])
  })

  test('goes on over a restart, without a repetition or a gap', async () => {
    const { narrator, dataDir } = await atHead()
    await buys(1, 2)
    await caughtUp(narrator)
    await narrator.stop()
    await buys(3, 4)
    const again = await startNarrator({ chain: chain(), dataDir })
    await buys(5)
    await caughtUp(again)
    await severalTicks(again)
    expect(told([...narrator.lines, ...again.lines])).toEqual([1, 2, 3, 4, 5])
  })

  test('that cannot be read holds narration up until it can, and no event is narrated twice', async () => {
    const { narrator, dataDir } = await atHead()
    await narrator.stop()
    const text = storedText(dataDir, 'state', 'narrator') ?? ''
    setStoredText(dataDir, 'state', 'narrator', '{"block": -1')
    await buys(1)
    const again = await startNarrator({ chain: chain(), dataDir })
    await eventually('the failure', () => again.log.text().includes('stored record not readable'))
    expect(again.lines).toEqual([])
    setStoredText(dataDir, 'state', 'narrator', text)
    await caughtUp(again)
    expect(told(again.lines)).toEqual([1])
  })

  test('does not move, and nothing is printed, while it cannot be saved', async () => {
    const { narrator } = await atHead()
    await buys(1)
    await caughtUp(narrator)
    narrator.left.writes = Number.POSITIVE_INFINITY
    await buys(2)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1])
    narrator.left.writes = 0
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2])
  })
})

describe('a tick', () => {
  test('sends the five queries as one HTTP request over one range, and none when there is no new block', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    proxy.requests.length = 0
    await severalTicks(narrator)
    expect(proxy.requests.length).toBeGreaterThan(2)
    expect(proxy.requests.flat()).not.toContain('eth_getLogs')
    await chain().provider.send('anvil_mine', ['0x3'])
    await caughtUp(narrator)
    await severalTicks(narrator)
    const queries = proxy.requests.filter((methods) => methods.includes('eth_getLogs'))
    expect(queries.length).toBeGreaterThan(0)
    expect(queries.length).toBeLessThanOrEqual(3)
    for (const methods of queries) {
      const [block, query] = ['eth_getBlockByNumber', 'eth_getLogs']
      expect(methods).toEqual([block, block, ...Array(5).fill(query), block, block])
    }
  })

  test('never overlaps another, however slow the node', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator, dataDir } = await atHead({ rpcUrl: proxy.url, env: { RPC_TIMEOUT: '30s' } })
    let hanging = 0
    proxy.fault = () => {
      hanging++
      return 'hang'
    }
    await buys(1)
    await eventually('a look that hangs', () => hanging === 1)
    const waiting = proxy.requests.length
    await sleep(300)
    expect(proxy.requests.length).toBe(waiting)
    await narrator.stop()
    await caughtUp(await startNarrator({ chain: chain(), dataDir }))
  })

  test('reads a long way in ranges that nodes take', async () => {
    const { narrator, dataDir } = await atHead()
    await narrator.stop()
    await buys(1)
    await chain().provider.send('anvil_mine', ['0x14'])
    await buys(2)
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const env = { RPC_LOG_RANGE: '10' }
    const again = await startNarrator({ chain: chain(), dataDir, rpcUrl: proxy.url, env })
    await caughtUp(again)
    expect(told(again.lines)).toEqual([1, 2])
    expect(proxy.requests.filter((methods) => methods.includes('eth_getLogs'))).toHaveLength(3)
  })
})

describe('a failing node', () => {
  test.each<Fault>(['drop', 'lose', 'garbage', 'refuse'])('(%s) repeats and skips nothing', async (fault) => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    await buys(1)
    await caughtUp(narrator)
    proxy.fault = () => fault
    await buys(2, 3)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1])
    proxy.fault = () => 'none'
    await buys(4)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, 4])
  })

  test.each([0, 1, 2, 3, 4])(
    'that refuses only query %i of the five has none of them told, and then all once',
    async (refused) => {
      const proxy = await startFaultProxy(chain().anvil.rpcUrl)
      const { narrator } = await atHead({ rpcUrl: proxy.url })
      proxy.answer = ({ method, index }) =>
        method === 'eth_getLogs' && index === 2 + refused ? REFUSAL : undefined
      await buys(1)
      await chain().send('owner', 'token', 'setKyc', chain().account('dave'), true)
      await severalTicks(narrator)
      expect(proxy.requests.flat()).toContain('eth_getLogs')
      expect(narrator.lines).toEqual([])
      proxy.answer = () => undefined
      await caughtUp(narrator)
      await severalTicks(narrator)
      expect(narrator.lines.map(untimed)).toEqual([
        expect.stringMatching(/^\[escrow\] order opened {28}1\.00 USDC/),
        '[token] kyc updated',
      ])
    },
  )
})

test('an event that a node lists twice is narrated once', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { narrator } = await atHead({ rpcUrl: proxy.url })
  const head: unknown = await chain().provider.send('eth_getBlockByNumber', ['latest', false])
  const fromBlock = toQuantity((await chain().provider.getBlockNumber()) + 1)
  // Nothing is read before the answer is there.
  proxy.answer = ({ params }) => (params[0] === 'latest' ? { result: head } : undefined)
  await buys(1, 2)
  const filter = { address: chain().addresses.orderEscrow, fromBlock, toBlock: 'latest' }
  const logs: unknown[] = await chain().provider.send('eth_getLogs', [filter])
  proxy.answer = ({ method, index }) =>
    method === 'eth_getLogs' && index === 3 ? { result: [...logs, ...logs] } : undefined
  await caughtUp(narrator)
  expect(told(narrator.lines)).toEqual([1, 2])
})

test('a narrator whose lease another server has taken prints nothing, also before it has noticed', async () => {
  const dataDir = await temporaryDirectory()
  const progress = createNarratorProgress()
  const narrator = await narratorAtHead({ chain: chain(), dataDir, progress })
  expect(progress.isNarrating()).toBe(true)
  const cursor = storedText(dataDir, 'state', 'narrator')
  await takeOver(narrator.engine, 'narrator')
  await buys(1)
  await eventually('the end of its term', () => narrator.log.text().includes('lease given up'))
  expect(narrator.lines).toEqual([])
  expect(storedText(dataDir, 'state', 'narrator')).toBe(cursor)
  expect(progress.isNarrating()).toBe(false)
  expect(progress.last()).toBeUndefined()
})

test('unread lines are known to wait', async () => {
  const progress = createNarratorProgress()
  const { promise: reader, resolve: read } = Promise.withResolvers<void>()
  const dataDir = await temporaryDirectory()
  const narrator = await narratorAtHead({ chain: chain(), dataDir, progress, reader })
  await buys(1)
  await eventually('the line', () => narrator.lines.length === 1)
  expect(progress.isPrinting()).toBe(true)
  read()
  await caughtUp(narrator)
  expect(progress.isPrinting()).toBe(false)
})

test('events are narrated once they are as deep as configured', async () => {
  const dataDir = await temporaryDirectory()
  const narrator = await startNarrator({ chain: chain(), dataDir, env: { CONFIRMATIONS: '3' } })
  await cursorAt(narrator, (await chain().provider.getBlockNumber()) - 2)
  await buys(1)
  await chain().provider.send('anvil_mine', ['0x1'])
  await severalTicks(narrator)
  expect(opened(narrator.lines)).toEqual([])
  await chain().provider.send('anvil_mine', ['0x1'])
  await cursorAt(narrator, (await chain().provider.getBlockNumber()) - 2)
  expect(opened(narrator.lines)).toEqual([1])
})
