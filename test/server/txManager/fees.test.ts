import { describe, expect, test } from 'vitest'
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
  baseFeePerGas: ['0x1', '0x2', '0x3', (10n * GWEI).toString(16).replace(/^/, '0x')],
  gasUsedRatio: [0.5, 0.5, 0.5],
  reward: [[`0x${(3n * GWEI).toString(16)}`], [`0x${GWEI.toString(16)}`], [`0x${(2n * GWEI).toString(16)}`]],
}

describe('current fees', () => {
  test("are twice the next block's base fee and the median tip", async () => {
    expect(await feesWhere(history)).toEqual(fees(22n * GWEI, 2n * GWEI))
  })

  test('stay below the ceiling, the tip too', async () => {
    expect(await feesWhere(history, 5n * GWEI)).toEqual(fees(5n * GWEI, 2n * GWEI))
    expect(await feesWhere(history, GWEI)).toEqual(fees(GWEI, GWEI))
  })

  test('have some tip where other transactions pay none, or the node does not say', async () => {
    const { reward: _, ...without } = history
    const idle = { ...history, reward: [['0x0'], ['0x0']] }
    for (const each of [without, idle, { ...without, reward: null }]) {
      expect(await feesWhere(each)).toMatchObject({ maxPriorityFeePerGas: 1_000_000n })
    }
  })

  test('are not made up from an answer that is none', async () => {
    for (const bad of [{}, { baseFeePerGas: [] }, { baseFeePerGas: ['10'] }]) {
      await expect(feesWhere(bad)).rejects.toThrow()
    }
  })
})
