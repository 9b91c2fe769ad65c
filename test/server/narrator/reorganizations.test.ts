import { describe, expect, onTestFinished, test } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { startTestChain, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, openBuy, setUpInstitution, usd } from '../../support/institution.js'
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

/** The narration so far, in order: the amounts, negative where one was retracted, and `reset`. */
const told = (lines: readonly string[]) =>
  lines.map((line) => {
    if (line.includes('[chain] reset')) return 'reset'
    const amount = Number(/(\d+)\.00 USDC/.exec(line)?.[1])
    return line.includes('retracted: ') ? -amount : amount
  })

const snapshot = (): Promise<unknown> => chain().provider.send('evm_snapshot', [])
const revert = (to: unknown): Promise<unknown> => chain().provider.send('evm_revert', [to])
const mine = (blocks: number): Promise<unknown> => chain().provider.send('anvil_mine', [toQuantity(blocks)])

const block = (number: string): Promise<unknown> =>
  chain().provider.send('eth_getBlockByNumber', [number, false])

const atHead = async (options: { rpcUrl?: string; env?: Record<string, string> } = {}) => {
  const dataDir = await temporaryDirectory()
  return { dataDir, narrator: await narratorAtHead({ chain: chain(), dataDir, ...options }) }
}

const caughtUp = async (narrator: NarratorUnderTest) =>
  cursorAt(narrator, await chain().provider.getBlockNumber())

test('a node that is behind the one that said the head has nothing skipped', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { narrator } = await atHead({ rpcUrl: proxy.url })
  const before = await chain().provider.getBlockNumber()
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

describe('an event that a reorganization removed', () => {
  test('is retracted, newest first, and the new history is narrated', async () => {
    const { narrator } = await atHead()
    await buys(1)
    const fork = await snapshot()
    await buys(2, 3)
    await caughtUp(narrator)
    await revert(fork)
    await buys(4, 5)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, -3, -2, 4, 5])
  })

  test('is retracted and narrated again where the new history has it in another block', async () => {
    const { narrator } = await atHead()
    const fork = await snapshot()
    await buys(1)
    await caughtUp(narrator)
    await revert(fork)
    await mine(1)
    await buys(1)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, -1, 1])
  })

  test('by a reorganization of the node itself, in the same number of blocks', async () => {
    const { narrator } = await atHead()
    await buys(1, 2, 3)
    await caughtUp(narrator)
    await chain().provider.send('anvil_reorg', [2, []])
    await eventually('the retractions', () => narrator.lines.length === 5)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, -3, -2])
  })

  test('while the server was down is retracted by the next start, and not by the one after it', async () => {
    const { narrator, dataDir } = await atHead()
    await buys(1)
    const fork = await snapshot()
    await buys(2)
    await caughtUp(narrator)
    await narrator.stop()
    await revert(fork)
    await buys(3, 4)
    const again = await startNarrator({ chain: chain(), dataDir })
    await caughtUp(again)
    await again.stop()
    const third = await startNarrator({ chain: chain(), dataDir })
    await severalTicks(third)
    expect(told([...narrator.lines, ...again.lines, ...third.lines])).toEqual([1, 2, -2, 3, 4])
  })

  test('between two calls of one request is retracted, too', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    await buys(1)
    const fork = await snapshot()
    await buys(2, 3)
    await caughtUp(narrator)
    const last = toQuantity(await chain().provider.getBlockNumber())
    const old = await block(last)
    // The first questions get the old answers, and the others the new ones.
    proxy.answer = ({ method, params, index }) =>
      method === 'eth_getBlockByNumber' && params[0] === last && index <= 1 ? { result: old } : undefined
    await revert(fork)
    await buys(4, 5, 6)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, -3, -2, 4, 5, 6])
  })

  test('between two of the five queries has no event skipped', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    const head = await block('latest')
    const end = toQuantity((await chain().provider.getBlockNumber()) + 3)
    // Nothing is seen of either history before both are there.
    proxy.answer = ({ params }) => (params[0] === 'latest' ? { result: head } : undefined)
    const fork = await snapshot()
    await mine(3)
    const old = await block(end)
    await revert(fork)
    await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
    await buys(1)
    await mine(1)
    // The range's end and the first query are answered by the old history, whatever is asked after it by the new one.
    let isTorn = true
    proxy.answer = ({ method, params, index }) => {
      if (!isTorn) return undefined
      if (method === 'eth_getLogs') isTorn = index < 6
      if (index === 1 && params[0] === end) return { result: old }
      return method === 'eth_getLogs' && index === 2 ? { result: [] } : undefined
    }
    await eventually('the torn look', () => !isTorn)
    await mine(1)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(narrator.lines.map((line) => /\[\w+\]/.exec(line)?.[0])).toEqual(['[registry]', '[escrow]'])
  })

  test('with the block that narration began after is no reset, and no older event is narrated', async () => {
    await buys(9)
    const fork = await snapshot()
    await mine(1)
    const { narrator } = await atHead()
    await buys(1)
    await caughtUp(narrator)
    await revert(fork)
    await buys(2, 3)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, -1, 2, 3])
  })

  test('is not spoken of when it held no event', async () => {
    const { narrator } = await atHead()
    await buys(1)
    const fork = await snapshot()
    await mine(2)
    await caughtUp(narrator)
    await revert(fork)
    await buys(2, 3)
    // The chain is as high as before: that the narrator stands at its head does not say which branch it has read.
    await eventually('the events of the branch that stayed', () => told(narrator.lines).length === 3)
    expect(told(narrator.lines)).toEqual([1, 2, 3])
  })

  test('was never told where narration waits for more blocks than it took', async () => {
    await mine(3)
    const dataDir = await temporaryDirectory()
    const narrator = await startNarrator({ chain: chain(), dataDir, env: { NARRATOR_CONFIRMATIONS: '4' } })
    await cursorAt(narrator, (await chain().provider.getBlockNumber()) - 3)
    await buys(1)
    const fork = await snapshot()
    await buys(2)
    await mine(2)
    await cursorAt(narrator, (await chain().provider.getBlockNumber()) - 3)
    await revert(fork)
    await buys(3)
    await mine(3)
    await cursorAt(narrator, (await chain().provider.getBlockNumber()) - 3)
    expect(told(narrator.lines)).toEqual([1, 3])
  })

  test('is not taken for removed while a node is behind, however long', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    const old = await block('latest')
    const before = await chain().provider.getBlockNumber()
    await buys(1, 2)
    await caughtUp(narrator)
    proxy.answer = ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber') return undefined
      if (params[0] === 'latest') return { result: old }
      return Number(params[0]) > before ? { result: null } : undefined
    }
    for (let round = 0; round < 3; round++) await severalTicks(narrator)
    proxy.answer = () => undefined
    await buys(3)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3])
  })

  test('and events of no single history are not narrated', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    // The last block is of another history than the events, as when a node changes its mind in between.
    const before = await chain().provider.getBlockNumber()
    proxy.answer = ({ method, params: [number] }) =>
      method === 'eth_getBlockByNumber' && Number(number) > before
        ? { result: { number, hash: `0x${'ab'.repeat(32)}` } }
        : undefined
    await buys(1)
    await severalTicks(narrator)
    expect(proxy.requests.flat()).toContain('eth_getLogs')
    expect(narrator.lines).toEqual([])
    proxy.answer = () => undefined
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1])
  })
})

describe('a chain that was reset', () => {
  test('deeper than is remembered is one line, and narrated anew from where narration began', async () => {
    await buys(9)
    const { narrator } = await atHead()
    const fork = await snapshot()
    await buys(1)
    await mine(70)
    await caughtUp(narrator)
    await revert(fork)
    await buys(2)
    await mine(80)
    await buys(3)
    await caughtUp(narrator)
    await severalTicks(narrator)
    // Events from before the narration's start are on the chain still, and not narrated now either.
    expect(told(narrator.lines)).toEqual([1, 'reset', 2, 3])
  })

  test('altogether is narrated from its beginning', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    await buys(1)
    await caughtUp(narrator)
    const another = await startTestChain()
    onTestFinished(another.stop)
    expect(another.addresses).toEqual(chain().addresses)
    await another.send('owner', 'token', 'setKyc', another.account('dave'), true)
    proxy.target = another.anvil.rpcUrl
    await another.send('owner', 'token', 'setListed', AAPL, true)
    await eventually('four lines', () => narrator.lines.length >= 4)
    await severalTicks(narrator)
    expect(narrator.lines.slice(1).map(untimed)).toEqual([
      '[chain] reset: all earlier lines are void, the chain is narrated anew',
      '[token] kyc updated',
      '[token] listing updated',
    ])
  })

  test('while the server was down is noticed by the next start, and told once', async () => {
    const { narrator, dataDir } = await atHead()
    const fork = await snapshot()
    await buys(1)
    await mine(70)
    await caughtUp(narrator)
    await narrator.stop()
    await revert(fork)
    await buys(2)
    await mine(80)
    const again = await startNarrator({ chain: chain(), dataDir })
    await caughtUp(again)
    await again.stop()
    const third = await startNarrator({ chain: chain(), dataDir })
    await severalTicks(third)
    expect(told([...again.lines, ...third.lines])).toEqual(['reset', 2])
  })

  test('is not told of by a node that has no block to go on from', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const first = ({ params }: ProxiedCall) => (params[0] === '0x0' ? { result: null } : undefined)
    proxy.answer = first
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    proxy.answer = (call) => {
      if (call.method !== 'eth_getBlockByNumber' || call.params[0] === 'latest') return undefined
      return first(call) ?? { result: { number: call.params[0], hash: `0x${'ab'.repeat(32)}` } }
    }
    for (let round = 0; round < 3; round++) await severalTicks(narrator)
    proxy.answer = first
    await buys(1)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1])
  })

  test('is not taken for one when a node says so for a moment', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    await buys(1)
    await caughtUp(narrator)
    let looks = 0
    proxy.answer = ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] === 'latest' || looks >= 8) return undefined
      looks++
      return { result: { number: params[0], hash: `0x${'ab'.repeat(32)}` } }
    }
    await eventually('the looks', () => looks === 8)
    await buys(2)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2])
  })
})
