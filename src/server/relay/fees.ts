import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { quantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import { createTimedValue } from '../async/timedValue.js'

/** What a transaction offers for each unit of gas, in wei. https://eips.ethereum.org/EIPS/eip-1559 */
export interface MarketFees {
  readonly type: 2
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The same on a chain without a base fee. */
export interface LegacyFees {
  readonly type: 0
  readonly gasPrice: bigint
}

export type Fees = MarketFees | LegacyFees

/** The most that a unit of gas may cost, in wei. */
export function priceLimit(fees: Fees): bigint {
  return fees.type === 0 ? fees.gasPrice : fees.maxFeePerGas
}

/** How many blocks the tip is taken from, and which of their payers is followed. */
const HISTORY_BLOCKS = 5
const TIP_PERCENTILE = 50
/** A tip of nothing is refused by some nodes. */
const MIN_TIP = 1_000_000n

const QUESTIONS = [
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_feeHistory', params: [toQuantity(HISTORY_BLOCKS), 'latest', [TIP_PERCENTILE]] },
  { method: 'eth_gasPrice', params: [] },
]

const blockSchema = z.looseObject({ baseFeePerGas: quantitySchema.nullish() })
const feeHistorySchema = z.looseObject({
  baseFeePerGas: z.array(quantitySchema).min(1),
  reward: z.array(z.array(quantitySchema)).nullish(),
})

/**
 * Fees that the chain takes now, never above the ceiling: twice the next block's base fee, so that it may rise for
 * six full blocks, and the median tip of the last blocks. A chain whose blocks have no base fee gets the node's gas
 * price.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function currentFees(provider: RpcProvider, ceiling: bigint): Promise<Fees> {
  const [block, history, gasPrice] = await provider.transport.send(QUESTIONS)
  const { baseFeePerGas } = resultOf(block, blockSchema)
  return baseFeePerGas === undefined || baseFeePerGas === null
    ? { type: 0, gasPrice: min(resultOf(gasPrice, quantitySchema), ceiling) }
    : marketFees(resultOf(history, feeHistorySchema), ceiling)
}

function marketFees({ baseFeePerGas, reward }: z.output<typeof feeHistorySchema>, ceiling: bigint): Fees {
  const baseFee = baseFeePerGas.at(-1) ?? 0n
  const tip = max(MIN_TIP, median((reward ?? []).flatMap((block) => block.slice(0, 1))))
  return limited(2n * baseFee + tip, tip, ceiling)
}

/** What a transaction has to offer now. */
export interface FeeMarket {
  /** @throws ChainUnavailableError, ChainAnswerError */
  current(): Promise<Fees>
}

/** {@link currentFees}, asked for once in `maxAgeMs` however many want them. */
export function createFeeMarket(options: {
  provider: RpcProvider
  ceiling: bigint
  maxAgeMs: number
}): FeeMarket {
  return { current: createTimedValue(options.maxAgeMs, () => currentFees(options.provider, options.ceiling)) }
}

/**
 * Fees for replacing a transaction under the same nonce. Nodes demand 10 % more on both, some 12.5 %.
 *
 * @returns null when the ceiling leaves no room for that
 */
export function raisedFees(previous: Fees, current: Fees, ceiling: bigint): Fees | null {
  const limit = max(priceLimit(current), raise(priceLimit(previous)))
  if (limit > ceiling) return null
  if (current.type === 0) return { type: 0, gasPrice: limit }
  return limited(limit, max(current.maxPriorityFeePerGas, raise(tipOf(previous))), ceiling)
}

/** All of a legacy price that is not burnt goes to the block's producer. */
function tipOf(fees: Fees): bigint {
  return fees.type === 0 ? fees.gasPrice : fees.maxPriorityFeePerGas
}

/** 12.5 % more, rounded up. */
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n
}

function limited(maxFeePerGas: bigint, tip: bigint, ceiling: bigint): Fees {
  const fee = min(maxFeePerGas, ceiling)
  return { type: 2, maxFeePerGas: fee, maxPriorityFeePerGas: min(tip, fee) }
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
