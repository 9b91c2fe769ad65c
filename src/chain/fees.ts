import { z } from 'zod/mini'
import type { Hex } from '../protocol/hex.js'
import { blockCall, quantitySchema, resultOf, toQuantity } from './jsonRpc.js'
import type { Rpc } from './rpc.js'

/**
 * The offer of a transaction for each unit of gas, in wei: with a tip (https://eips.ethereum.org/EIPS/eip-1559), or one price on a
 * chain without a base fee.
 */
export type Fees =
  | { readonly type: 2; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 0; readonly gasPrice: bigint }

/** The most that a unit of gas may cost, in wei. */
export function priceLimit(fees: Fees): bigint {
  return fees.type === 0 ? fees.gasPrice : fees.maxFeePerGas
}

/** About the least gas that one authorization of an order needs. */
export const LEAST_GAS = 300_000n

/** The least balance, in wei, that pays for one order at these fees and keeps the floor. */
export function leastBalance(floor: bigint, fees: Fees): bigint {
  return floor + LEAST_GAS * priceLimit(fees)
}

/** An account's ether, in wei. @throws ChainUnavailableError, ChainAnswerError */
export async function balanceOf(rpc: Pick<Rpc, 'send'>, account: Hex): Promise<bigint> {
  const [answer] = await rpc.send([{ method: 'eth_getBalance', params: [account, 'latest'] }])
  return resultOf(answer, quantitySchema)
}

/** The blocks that the tip is derived from, and the percentile of their tips. */
const HISTORY_BLOCKS = 5
const TIP_PERCENTILE = 50
/** Some nodes refuse a tip of zero. */
const MIN_TIP = 1_000_000n

const QUESTIONS = [
  blockCall('latest'),
  { method: 'eth_feeHistory', params: [toQuantity(HISTORY_BLOCKS), 'latest', [TIP_PERCENTILE]] },
  { method: 'eth_gasPrice', params: [] },
]

const baseFeeSchema = z.looseObject({ baseFeePerGas: z.nullish(quantitySchema) })
const feeHistorySchema = z.looseObject({
  baseFeePerGas: z.array(quantitySchema).check(z.minLength(1)),
  reward: z.nullish(z.array(z.array(quantitySchema))),
})

/**
 * Fees that the chain accepts now, never above the ceiling: twice the next block's base fee, so that the transaction fits into each
 * of the next six blocks even if all are full, and the median tip of the last blocks. A chain whose blocks have no base fee gets the
 * node's gas price.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function currentFees(rpc: Pick<Rpc, 'send'>, ceiling: bigint): Promise<Fees> {
  const [block, history, gasPrice] = await rpc.send(QUESTIONS)
  const { baseFeePerGas } = resultOf(block, baseFeeSchema)
  return baseFeePerGas === undefined || baseFeePerGas === null
    ? { type: 0, gasPrice: min(resultOf(gasPrice, quantitySchema), ceiling) }
    : eip1559Fees(resultOf(history, feeHistorySchema), ceiling)
}

function eip1559Fees({ baseFeePerGas, reward }: z.output<typeof feeHistorySchema>, ceiling: bigint): Fees {
  const baseFee = baseFeePerGas.at(-1) ?? 0n
  const tip = max(MIN_TIP, median((reward ?? []).flatMap((block) => block.slice(0, 1))))
  return capped(2n * baseFee + tip, tip, ceiling)
}

/** Fees of at most the ceiling. */
export function capped(maxFeePerGas: bigint, tip: bigint, ceiling: bigint): Fees {
  const fee = min(maxFeePerGas, ceiling)
  return { type: 2, maxFeePerGas: fee, maxPriorityFeePerGas: min(tip, fee) }
}

function median(values: bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : 1))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
