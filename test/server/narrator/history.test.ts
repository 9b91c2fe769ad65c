import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestChain, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
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

/** The amounts told so far, in order; NaN for a line that tells none. */
const told = (lines: readonly string[]) => lines.map((line) => Number(/(\d+)\.00 USDC/.exec(line)?.[1]))

const atHead = async (options: { rpcUrl?: string; env?: Record<string, string> } = {}) => {
  const dataDir = await temporaryDirectory()
  return { dataDir, narrator: await narratorAtHead({ chain: chain(), dataDir, ...options }) }
}

const caughtUp = async (narrator: NarratorUnderTest) =>
  cursorAt(narrator, await chain().provider.getBlockNumber())

test('a node that is behind the one that said the head has nothing skipped', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { narrator } = await atHead({ rpcUrl: proxy.url })
  // It knows of no block after those, so it has no events of them either.
  proxy.answer = ({ method, params, index }) => {
    if (method === 'eth_getLogs') return { result: [] }
    return method === 'eth_getBlockByNumber' && index === 5 && params[0] !== 'latest'
      ? { result: null }
      : undefined
  }
  await buys(1)
  await severalTicks(narrator)
  expect(proxy.requests.flat()).toContain('eth_getLogs')
  expect(narrator.lines).toEqual([])
  proxy.answer = () => undefined
  await caughtUp(narrator)
  expect(told(narrator.lines)).toEqual([1])
})

describe('a chain that was reset', () => {
  test('is noticed, said in one line, and followed', async () => {
    const { narrator } = await atHead()
    const snapshot: unknown = await chain().provider.send('evm_snapshot', [])
    await buys(1, 2, 3)
    await caughtUp(narrator)
    await chain().provider.send('evm_revert', [snapshot])
    await eventually('the line', () => narrator.lines.length === 4)
    await buys(4)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(narrator.lines[3]).toContain('[chain]')
    // What was before narration began is on the chain still, and not told now either.
    expect(told(narrator.lines)).toEqual([1, 2, 3, Number.NaN, 4])
  })

  test('altogether is told from its beginning', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    const another = await startTestChain()
    onTestFinished(another.stop)
    expect(another.addresses).toEqual(chain().addresses)
    await another.send('owner', 'token', 'setKyc', another.account('dave'), true)
    proxy.target = another.anvil.rpcUrl
    await another.send('owner', 'token', 'setListed', AAPL, true)
    await eventually('three lines', () => narrator.lines.length >= 3)
    await severalTicks(narrator)
    expect(narrator.lines.map(untimed)).toEqual([
      '[chain] history changed: following the chain as it is now',
      '[token] kyc updated',
      '[token] listing updated',
    ])
  })

  test('while the server was down is noticed too, even when it has grown past where narration was', async () => {
    const { narrator, dataDir } = await atHead()
    const snapshot: unknown = await chain().provider.send('evm_snapshot', [])
    await buys(1)
    await caughtUp(narrator)
    await narrator.stop()
    await chain().provider.send('evm_revert', [snapshot])
    await buys(2, 3)
    const again = await startNarrator({ chain: chain(), dataDir })
    await caughtUp(again)
    expect(told(again.lines)).toEqual([Number.NaN, 2, 3])
    expect(again.lines[0]).toContain('[chain]')
  })

  test('is not taken for one when a node is behind for a moment', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { narrator } = await atHead({ rpcUrl: proxy.url })
    const before = await chain().provider.send('eth_getBlockByNumber', ['latest', false])
    await buys(1)
    await caughtUp(narrator)
    let looks = 0
    proxy.answer = ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || looks >= 3) return undefined
      if (params[0] !== 'latest') looks++
      return { result: params[0] === 'latest' ? before : null }
    }
    await eventually('three looks', () => looks === 3)
    await buys(2)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2])
  })
})

test('a node that is behind for long is followed, and nothing is told again when it has caught up', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { narrator } = await atHead({ rpcUrl: proxy.url })
  const old: unknown = await chain().provider.send('eth_getBlockByNumber', ['latest', false])
  await buys(1, 2)
  await caughtUp(narrator)
  const cursor = await chain().provider.getBlockNumber()
  proxy.answer = ({ method, params }) => {
    if (method !== 'eth_getBlockByNumber') return undefined
    if (params[0] === 'latest') return { result: old }
    return Number(params[0]) >= cursor ? { result: null } : undefined
  }
  await eventually('the line', () => narrator.lines.length === 3)
  proxy.answer = () => undefined
  await buys(3)
  await caughtUp(narrator)
  expect(told(narrator.lines)).toEqual([1, 2, Number.NaN, 3])
})
