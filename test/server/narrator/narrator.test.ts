import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { createNarratorProgress } from '../../../src/server/narrator/poll.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type ProxiedCall, REFUSAL, startFaultProxy } from '../../support/faultProxy.js'
import { setUpInstitution } from '../../support/institution.js'
import { setStoredText, storedText } from '../../support/storedRows.js'
import { takeOver } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import {
  actsOn,
  cursorAt,
  cursorOf,
  severalTicks,
  startNarrator,
  told,
  untimed,
} from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)
const { atHead, block, buys, caughtUp, head, mine, revert, snapshot } = actsOn(chain)

describe('the cursor', () => {
  test('starts at the head and goes on over a restart, without a repetition or a gap', async () => {
    await buys(9)
    const narrator = await atHead()
    await buys(1, 2)
    await caughtUp(narrator)
    await narrator.stop()
    await buys(3, 4)
    const again = await startNarrator({ chain: chain(), dataDir: narrator.dataDir })
    await buys(5)
    await caughtUp(again)
    await severalTicks(again)
    expect(told([...narrator.lines, ...again.lines])).toEqual([1, 2, 3, 4, 5])
  })

  test('holds narration up while it cannot be read, and no event is narrated twice', async () => {
    const { dataDir, stop } = await atHead()
    await stop()
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
    const narrator = await atHead()
    narrator.left.writes = Number.POSITIVE_INFINITY
    await buys(1)
    await severalTicks(narrator)
    expect(narrator.lines).toEqual([])
    narrator.left.writes = 0
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1])
  })

  test('is saved before the lines are printed, and unread lines are known to wait', async () => {
    const progress = createNarratorProgress()
    const { promise: reader, resolve: read } = Promise.withResolvers<void>()
    const narrator = await atHead({ progress, reader })
    await buys(1)
    await eventually('the line', () => narrator.lines.length === 1)
    expect(cursorOf(narrator.dataDir)).toBe(await head())
    expect(progress.isPrinting).toBe(true)
    read()
    await caughtUp(narrator)
    expect(progress.isPrinting).toBe(false)
  })
})

describe('a failing node', () => {
  test('has no event told while it refuses one of the five queries, and then each once', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const narrator = await atHead({ rpcUrl: proxy.url })
    proxy.answer = ({ method, index }) => (method === 'eth_getLogs' && index === 5 ? REFUSAL : undefined)
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
  })

  test('has an event narrated once that it lists twice, and none that has another form', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const narrator = await atHead({ rpcUrl: proxy.url })
    const before = await block('latest')
    const fromBlock = toQuantity((await head()) + 1)
    // Nothing is read before the answer is there.
    proxy.answer = ({ params }) => (params[0] === 'latest' ? { result: before } : undefined)
    await buys(1, 2)
    const filter = { address: chain().addresses.orderEscrow, fromBlock, toBlock: 'latest' }
    const logs: object[] = await chain().provider.send('eth_getLogs', [filter])
    const odd = { ...logs[0], data: '0x', logIndex: '0xff' }
    proxy.answer = ({ method, index }) =>
      method === 'eth_getLogs' && index === 2 ? { result: [odd, ...logs, ...logs] } : undefined
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2])
    expect(narrator.log.text()).toContain('event not readable')
  })

  test('has nothing skipped while it is behind the one that said the head', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const narrator = await atHead({ rpcUrl: proxy.url })
    const before = await head()
    // It knows of no block after those, so it has no events of them either.
    proxy.answer = ({ method, params }) => {
      if (method === 'eth_getLogs') return { result: [] }
      return method === 'eth_getBlockByNumber' && Number(params[0]) > before ? { result: null } : undefined
    }
    await buys(1)
    await severalTicks(narrator)
    expect(proxy.requests.flat()).toContain('eth_getLogs')
    expect(narrator.lines).toEqual([])
    proxy.answer = () => undefined
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1])
  })
})

const filterSchema = z.looseObject({ fromBlock: z.string(), toBlock: z.string() })

/** Blocks that a query spans. */
function spanOf({ params }: ProxiedCall): number {
  const { fromBlock, toBlock } = filterSchema.parse(params[0])
  return Number(toBlock) - Number(fromBlock) + 1
}

// test/chain has the codes by which nodes refuse a range.
test('a node that refuses long ranges has them halved: nothing is skipped or repeated, without a pause', async () => {
  const { dataDir, stop } = await atHead()
  await stop()
  for (const amount of [1, 2, 3]) {
    await buys(amount)
    await mine(20)
  }
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const spans: number[] = []
  proxy.answer = (call) => {
    if (call.method !== 'eth_getLogs') return undefined
    const span = spanOf(call)
    spans.push(span)
    // Each of the five decides by itself, as at a provider: four are answered where one is refused.
    return span > 10 && call.index === 3 ? { error: { code: -32_602, message: 'too many' } } : undefined
  }
  // The test would be over before the end of a pause.
  const env = { NARRATOR_INTERVAL: '1h', RPC_LOG_RANGE: '62' }
  const again = await startNarrator({ chain: chain(), dataDir, rpcUrl: proxy.url, env })
  await eventually('three lines', () => again.lines.length === 3)
  expect(told(again.lines)).toEqual([1, 2, 3])
  expect([...new Set(spans)].slice(0, 4)).toEqual([62, 31, 15, 7])
})

test('a narrator whose lease another server has taken prints nothing, also before it has noticed', async () => {
  const progress = createNarratorProgress()
  const narrator = await atHead({ progress })
  expect(progress.isNarrating).toBe(true)
  const cursor = storedText(narrator.dataDir, 'state', 'narrator')
  await takeOver(narrator.engine, 'narrator')
  await buys(1)
  await eventually('the end of its term', () => narrator.log.text().includes('lease given up'))
  expect(narrator.lines).toEqual([])
  expect(storedText(narrator.dataDir, 'state', 'narrator')).toBe(cursor)
  expect(progress.isNarrating).toBe(false)
  expect(progress.last).toBeUndefined()
})

test('an event is narrated once it is as deep as configured, and never where it is reorganized away before', async () => {
  const env = { CONFIRMATIONS: '3' }
  const caughtUpToDepth = async () => cursorAt(narrator, (await head()) - 2)
  await mine(3)
  const narrator = await startNarrator({ chain: chain(), dataDir: await temporaryDirectory(), env })
  await caughtUpToDepth()
  await buys(1)
  const fork = await snapshot()
  await buys(2)
  await caughtUpToDepth()
  expect(told(narrator.lines)).toEqual([])
  await mine(1)
  await caughtUpToDepth()
  expect(told(narrator.lines)).toEqual([1])
  await revert(fork)
  await buys(3)
  await mine(2)
  await caughtUpToDepth()
  expect(told(narrator.lines)).toEqual([1, 3])
})
