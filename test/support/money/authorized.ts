// The rules of the six authorized functions that move money, told a second time and independently of the contracts:
// each gives the error that the first failing requirement raises, or null and the effect.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { Message } from '../authorizations.js'
import { USDC, ZERO_BYTES32 } from '../institution.js'
import { balanceOf, type ModelState, move } from './state.js'
import type { Wallet } from './steps.js'

/** The name of a revert, or null for success. */
export type Outcome = string | null

/** Applies an authorization with this digest. */
export function relay(state: ModelState, authorization: Authorization, digest: Hex): Outcome {
  if (state.used.has(digest)) return 'DigestUsed'
  const outcome = dispatch(state, authorization)
  if (outcome === null) state.used.add(digest)
  return outcome
}

function dispatch(state: ModelState, { primaryType, message }: Authorization): Outcome {
  switch (primaryType) {
    case 'OrderSettlement':
      return settle(state, message)
    case 'OrderRefund':
      return refund(state, message)
    case 'BatchMint':
      return mint(state, message)
    case 'BatchBurn':
      return burn(state, message)
    default:
      throw new Error(`${primaryType} moves no money`)
  }
}

function settle(state: ModelState, message: Message<'OrderSettlement'>): Outcome {
  const { payoutAsset: asset, payout } = message
  if ((asset === ZERO_BYTES32) !== (payout === 0n)) return 'InvalidPayout'
  const order = openOrder(state, message.orderId)
  if (!order) return 'OrderNotOpen'
  const { account, amount } = order
  if (message.version !== versionOf(state, account) + 1n) return 'VersionConflict'
  // The order's own USDC is in the pool when it pays.
  const available = asset === USDC ? balanceOf(state, USDC, 'pool') + amount : held(state, asset)
  if (payout > available) return 'PoolShort'
  if (payout > 0n && asset !== USDC) {
    const refusal = cleared(state, asset, account)
    if (refusal) return refusal
  }
  order.open = false
  state.versions.set(account, message.version)
  move(state, USDC, 'escrow', 'pool', amount)
  if (payout > 0n) move(state, asset, 'pool', account, payout)
  return null
}

function refund(state: ModelState, message: Message<'OrderRefund'>): Outcome {
  const order = openOrder(state, message.orderId)
  if (!order) return 'OrderNotOpen'
  const writes = message.enclaveBlob !== '0x'
  const version = versionOf(state, order.account) + (writes ? 1n : 0n)
  if (message.version !== version) return 'VersionConflict'
  order.open = false
  state.versions.set(order.account, version)
  move(state, USDC, 'escrow', order.account, order.amount)
  return null
}

function mint(state: ModelState, message: Message<'BatchMint'>): Outcome {
  const refusal = batch(state, message)
  if (refusal) return refusal
  const { symbol, amount } = message
  count(state, message, amount)
  move(state, symbol, null, 'pool', amount)
  return null
}

function burn(state: ModelState, message: Message<'BatchBurn'>): Outcome {
  const refusal = batch(state, message)
  if (refusal) return refusal
  const { symbol, amount } = message
  if (amount > held(state, symbol)) return 'PoolShort'
  count(state, message, -amount)
  move(state, symbol, 'pool', null, amount)
  return null
}

function batch(state: ModelState, message: Message<'BatchMint' | 'BatchBurn'>): Outcome {
  const { symbol, amount } = message
  if (amount === 0n) return 'ZeroAmount'
  if (message.batch !== (state.batches.get(symbol) ?? 0n) + 1n) return 'BatchConflict'
  if (message.expectedSupply !== (state.supply.get(symbol) ?? 0n)) return 'SupplyConflict'
  return null
}

function count(state: ModelState, message: Message<'BatchMint' | 'BatchBurn'>, change: bigint): void {
  state.batches.set(message.symbol, message.batch)
  state.supply.set(message.symbol, (state.supply.get(message.symbol) ?? 0n) + change)
}

/** What a wallet must be to send or receive shares. */
export function cleared(state: ModelState, symbol: Hex, wallet: Wallet): Outcome {
  if (!state.kyc.has(wallet)) return 'NotCleared'
  return state.frozen.has(`${symbol} ${wallet}`) ? 'WalletFrozen' : null
}

export function versionOf(state: ModelState, wallet: Wallet): bigint {
  return state.versions.get(wallet) ?? 0n
}

function held(state: ModelState, asset: Hex): bigint {
  return balanceOf(state, asset, 'pool')
}

function openOrder(state: ModelState, orderId: Hex) {
  return state.orders.find((order) => order.orderId === orderId && order.open)
}
