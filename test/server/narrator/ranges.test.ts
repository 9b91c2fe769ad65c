import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRangeSize } from '../../../src/chain/logReader.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { type ProxiedCall, startFaultProxy } from '../../support/faultProxy.js'
import { openBuy, setUpInstitution, usd } from '../../support/institution.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { cursorAt, narratorAtHead, startNarrator } from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)

/** Answers of these providers, as they are or were reported. */
const REFUSALS: readonly [provider: string, error: { code: number; message: string; data?: string }][] = [
  [
    'Infura, events',
    {
      code: -32_005,
      message: 'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
    },
  ],
  ['Infura, blocks', { code: -32_602, message: 'range 1000000 exceeds limit of 10000' }],
  ['Infura, time', { code: -32_005, message: 'query timeout exceeded' }],
  ['Alchemy, size', { code: -32_602, message: 'Log response size exceeded.' }],
  [
    'Alchemy, blocks',
    { code: -32_600, message: 'You can make eth_getLogs requests with up to a 500 block range.' },
  ],
  ['QuickNode', { code: -32_614, message: 'eth_getLogs is limited to a 10,000 range' }],
  ['Ankr', { code: -32_600, message: 'block range is too wide' }],
  [
    'Cloudflare',
    {
      code: -32_047,
      message: "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    },
  ],
  ['publicnode', { code: -32_701, message: 'exceed maximum block range: 50000' }],
  ['dRPC', { code: 35, message: 'ranges over 10000 blocks are not supported on free plan' }],
  [
    'Tenderly',
    { code: -32_602, message: 'invalid params', data: 'range 9009594 is bigger than range limit 2000' },
  ],
  ['geth, its batch', { code: -32_003, message: 'response too large' }],
  ['a node of few words', { code: -32_005, message: 'please limit the query to at most 1000 blocks' }],
]
test('a range is halved down to one block, and grows again after some that were answered', () => {
  const size = createRangeSize(100)
  const whole = () => size.part({ from: 1, to: 1_000 })
  const refusals = Array.from({ length: 8 }, () => [size.refused(), whole().to])
  expect(refusals.map(([isShorter]) => isShorter)).toEqual([true, true, true, true, true, true, false, false])
  expect(refusals.map(([, blocks]) => blocks)).toEqual([50, 25, 12, 6, 3, 1, 1, 1])
  const sizes = Array.from({ length: 64 }, () => {
    size.answered(whole())
    return whole().to
  })
  expect([7, 8, 16, 24, 48, 56, 64].map((count) => sizes[count - 1])).toEqual([1, 2, 4, 8, 64, 100, 100])
  // Answers before a refusal do not count after it.
  for (let count = 0; count < 7; count++) size.answered(whole())
  size.refused()
  size.answered(whole())
  expect(whole().to).toBe(50)
  // Nor does a shorter range.
  for (let count = 0; count < 8; count++) size.answered({ from: 1, to: 49 })
  expect(size.part({ from: 1, to: 1_000 }, { backwards: true })).toEqual({ from: 951, to: 1_000 })
})

const filterSchema = z.looseObject({ fromBlock: z.string(), toBlock: z.string() })

/** Blocks that a query spans. */
function spanOf({ params }: ProxiedCall): number {
  const { fromBlock, toBlock } = filterSchema.parse(params[0])
  return Number(toBlock) - Number(fromBlock) + 1
}

describe('catching up at a node that takes few blocks', () => {
  test.each(REFUSALS)('as %s says, skips and repeats nothing, without a pause', async (_provider, error) => {
    const dataDir = await temporaryDirectory()
    await (await narratorAtHead({ chain: chain(), dataDir })).stop()
    for (let amount = 1; amount <= 3; amount++) {
      await openBuy(chain(), 'alice', `buy of ${amount}`, usd(amount))
      await chain().provider.send('anvil_mine', ['0x14'])
    }
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const spans: number[] = []
    proxy.answer = (call) => {
      if (call.method !== 'eth_getLogs') return undefined
      const span = spanOf(call)
      spans.push(span)
      // Each of the five decides by itself, as at a provider: four are answered where one is refused.
      return span > 10 && call.index === 4 ? { error } : undefined
    }
    // The test would be over before the end of a pause.
    const env = { NARRATOR_INTERVAL: '1h', RPC_LOG_RANGE: '62' }
    const again = await startNarrator({ chain: chain(), dataDir, rpcUrl: proxy.url, env })
    await eventually('three lines', () => again.lines.length === 3)
    expect(again.lines.map((line) => Number(/(\d+)\.00 USDC/.exec(line)?.[1]))).toEqual([1, 2, 3])
    expect([...new Set(spans)].slice(0, 4)).toEqual([62, 31, 15, 7])
  })

  test('is as complete where the words are unknown', async () => {
    const dataDir = await temporaryDirectory()
    await (await narratorAtHead({ chain: chain(), dataDir })).stop()
    await chain().provider.send('anvil_mine', ['0x14'])
    await openBuy(chain(), 'alice', 'a buy', usd(1))
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    proxy.answer = (call) =>
      call.method === 'eth_getLogs' && spanOf(call) > 5
        ? { error: { code: -32_000, message: 'no' } }
        : undefined
    const env = { RPC_LOG_RANGE: '40' }
    const again = await startNarrator({ chain: chain(), dataDir, rpcUrl: proxy.url, env })
    await cursorAt(again, await chain().provider.getBlockNumber())
    expect(again.lines).toHaveLength(1)
  })
})
