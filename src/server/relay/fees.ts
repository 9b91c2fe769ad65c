import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { quantitySchema } from '../../chain/quantity.js'

/** What a transaction offers for each unit of gas, in wei. https://eips.ethereum.org/EIPS/eip-1559 */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** How many blocks the tip is taken from, and which of their payers is followed. */
const HISTORY_BLOCKS = 5
const TIP_PERCENTILE = 50
/** A tip of nothing is refused by some nodes. */
const MIN_TIP = 1_000_000n

const feeHistorySchema = z.looseObject({
  baseFeePerGas: z.array(quantitySchema).min(1),
  reward: z.array(z.array(quantitySchema)).nullish(),
})

/**
 * Fees that the chain takes now: twice the next block's base fee, so that it may rise for six full blocks, and the
 * median tip of the last blocks; never above the ceiling.
 *
 * @throws ChainUnavailableError
 */
export async function currentFees(provider: RpcProvider, ceiling: bigint): Promise<Fees> {
  const params = [`0x${HISTORY_BLOCKS.toString(16)}`, 'latest', [TIP_PERCENTILE]]
  const answer: unknown = await provider.send('eth_feeHistory', params)
  const { baseFeePerGas, reward } = feeHistorySchema.parse(answer)
  const baseFee = baseFeePerGas.at(-1) ?? 0n
  const tip = max(MIN_TIP, median((reward ?? []).flatMap((block) => block.slice(0, 1))))
  return limited({ maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip }, ceiling)
}

/**
 * Fees for replacing a transaction under the same nonce. Nodes demand 10 % more on both, some 12.5 %.
 *
 * @returns null when the ceiling leaves no room for that
 */
export function raisedFees(previous: Fees, current: Fees, ceiling: bigint): Fees | null {
  const maxFeePerGas = max(current.maxFeePerGas, raise(previous.maxFeePerGas))
  if (maxFeePerGas > ceiling) return null
  return limited(
    {
      maxFeePerGas,
      maxPriorityFeePerGas: max(current.maxPriorityFeePerGas, raise(previous.maxPriorityFeePerGas)),
    },
    ceiling,
  )
}

/** 12.5 % more, rounded up. */
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n
}

function limited({ maxFeePerGas, maxPriorityFeePerGas }: Fees, ceiling: bigint): Fees {
  const fee = min(maxFeePerGas, ceiling)
  return { maxFeePerGas: fee, maxPriorityFeePerGas: min(maxPriorityFeePerGas, fee) }
}

function median(values: bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : 1))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
