import { capped, type Fees, max, priceLimit } from '../../chain/fees.js'

/** The fees that a new transaction should offer. @throws ChainUnavailableError, ChainAnswerError */
export type FeeMarket = () => Promise<Fees>

/**
 * Fees for replacing a transaction under the same nonce. Nodes demand 10 % more on both, some 12.5 %.
 *
 * @returns null when the ceiling does not allow that
 */
export function raisedFees(previous: Fees, current: Fees, ceiling: bigint): Fees | null {
  const limit = max(priceLimit(current), raise(priceLimit(previous)))
  if (limit > ceiling) return null
  if (current.type === 0) return { type: 0, gasPrice: limit }
  return capped(limit, max(current.maxPriorityFeePerGas, raise(tipOf(previous))), ceiling)
}

/** Whether a new transaction would offer more, and a raise would catch up with it. */
export function isOutbid(previous: Fees, current: Fees): boolean {
  return isFarBelow(priceLimit(previous), priceLimit(current)) || isFarBelow(tipOf(previous), tipOf(current))
}

function isFarBelow(fee: bigint, current: bigint): boolean {
  return fee < current && raise(fee) <= current
}

/** The part of a legacy price that is not burnt goes to the block's producer. */
function tipOf(fees: Fees): bigint {
  return fees.type === 0 ? fees.gasPrice : fees.maxPriorityFeePerGas
}

/** 12.5 % more, rounded up. */
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n
}
