import { expect, test } from 'vitest'
import { currentFees, type Fees } from '../../../src/chain/fees.js'

const GWEI = 1_000_000_000n
const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Fees => ({
  type: 2,
  maxFeePerGas,
  maxPriorityFeePerGas,
})

const block = { baseFeePerGas: '0x1' }

/** Fees where the node's history is this. */
const feesWhere = (history: object, ceiling = 500n * GWEI) =>
  currentFees(
    {
      send: async (calls) =>
        calls.map(({ method }) => ({ result: method === 'eth_feeHistory' ? history : block })),
    },
    ceiling,
  )

const history = {
  oldestBlock: '0x1',
  baseFeePerGas: ['0x1', '0x2', '0x3', `0x${(10n * GWEI).toString(16)}`],
  gasUsedRatio: [0.5, 0.5, 0.5],
  reward: [[`0x${(3n * GWEI).toString(16)}`], [`0x${GWEI.toString(16)}`], [`0x${(2n * GWEI).toString(16)}`]],
}

const { reward: _, ...silent } = history

test.each<[string, object, bigint, Fees]>([
  ["twice the next block's base fee and the median tip", history, 500n, fees(22n * GWEI, 2n * GWEI)],
  ['below the ceiling', history, 5n, fees(5n * GWEI, 2n * GWEI)],
  ['below the ceiling, the tip too', history, 1n, fees(GWEI, GWEI)],
  [
    'some tip where others pay none',
    { ...history, reward: [['0x0']] },
    500n,
    fees(20_001_000_000n, 1_000_000n),
  ],
  ['some tip where the node does not say', silent, 500n, fees(20_001_000_000n, 1_000_000n)],
])('current fees are %s', async (_what, told, ceiling, expected) => {
  expect(await feesWhere(told, ceiling * GWEI)).toEqual(expected)
})

test('current fees are not made up from an answer that is none', async () => {
  for (const bad of [{}, { baseFeePerGas: [] }, { baseFeePerGas: ['10'] }])
    await expect(feesWhere(bad)).rejects.toThrow()
})
