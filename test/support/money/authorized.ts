// The rules of the four authorized functions that move money, stated a second time and independently of the contracts:
// each gives the error of the first requirement that fails, or null and the effect.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../../src/protocol/ledgerBlob.js'
import type { Message } from '../authorizations.js'
import type { ContractKey } from '../chain.js'
import { USDC, ZERO_BYTES32 } from '../institution.js'
import type { Role } from '../roles.js'
import {
  balanceOf,
  claimOf,
  type Holder,
  type ModelOrder,
  type ModelState,
  move,
  portfolioOf,
  setClaim,
} from './state.js'
import type { Wallet } from './steps.js'

/** The name of a revert, or null for success. */
export type Outcome = string | null

/** A transaction and the revert that it should end in, null for success. */
export interface Attempt {
  from: Role
  call: [contract: ContractKey, method: string, ...args: unknown[]]
  expected: Outcome
}

/** Applies an authorization with this digest. */
export function relay(state: ModelState, authorization: Authorization, digest: Hex): Outcome {
  if (state.used.has(digest)) return 'DigestUsed'
  if (isPaused(state)) return 'PlatformPaused'
  const outcome = dispatch(state, authorization)
  if (outcome === null) state.used.add(digest)
  return outcome
}

export function isPaused({ time, pausedUntil }: ModelState): boolean {
  return time < pausedUntil
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
  const order = boundOrder(state, message)
  if (typeof order === 'string') return order
  const refusal = write(state, order.account, message)
  if (refusal) return refusal
  // The order's own escrow is in the pool when it pays.
  const available = balanceOf(state, asset, 'pool') + (asset === order.bound.asset ? order.bound.amount : 0n)
  if (payout > available) return 'PoolShort'
  finish(state, order, message)
  if (order.bound.amount > 0n) move(state, order.bound.asset, 'escrow', 'pool', order.bound.amount)
  if (payout > 0n) payOrClaim(state, asset, 'pool', order.account, payout)
  return null
}

function refund(state: ModelState, message: Message<'OrderRefund'>): Outcome {
  const order = boundOrder(state, message)
  if (typeof order === 'string') return order
  const { account } = order
  const { version, hash } = portfolioOf(state, account)
  if (message.enclaveBlob === '0x') {
    if (message.version !== version) return 'VersionConflict'
    if (message.previous !== hash) return 'HistoryConflict'
    order.open = false
  } else {
    const refusal = write(state, account, message)
    if (refusal) return refusal
    finish(state, order, message)
  }
  returnEscrow(state, order)
  return null
}

/** A request has nothing in escrow. */
export function returnEscrow(state: ModelState, { bound, account }: ModelOrder): void {
  if (bound.amount > 0n) payOrClaim(state, bound.asset, 'escrow', account, bound.amount)
}

/** Whether a portfolio takes this write. */
function write(state: ModelState, account: Wallet, message: Message<'OrderRefund'>): Outcome {
  const { version, hash } = portfolioOf(state, account)
  if (message.version !== version + 1n) return 'VersionConflict'
  return message.previous === hash ? null : 'HistoryConflict'
}

function finish(state: ModelState, order: ModelOrder, message: Message<'OrderRefund'>): void {
  order.open = false
  const hash = portfolioHashAfter(message.previous, message)
  state.portfolios.set(order.account, { version: message.version, hash })
}

/** The open order that a message names, or the error when it names another. */
function boundOrder(state: ModelState, message: Message<'OrderRefund'>): ModelOrder | string {
  const order = state.orders.find(({ bound, open }) => open && bound.orderId === message.orderId)
  if (!order) return 'OrderNotOpen'
  const { account, asset, amount, commit } = order.bound
  const same =
    message.account === account &&
    message.asset === asset &&
    message.amount === amount &&
    message.commit === commit
  return same ? order : 'OrderMismatch'
}

/** Pays what the account can receive; the escrow keeps the rest for it. */
function payOrClaim(state: ModelState, asset: Hex, from: Holder, account: Wallet, amount: bigint): void {
  if (amount === 0n || !receiveRefusal(state, asset, account)) {
    move(state, asset, from, account, amount)
    return
  }
  move(state, asset, from, 'escrow', amount)
  setClaim(state, asset, account, claimOf(state, asset, account) + amount)
}

/** Why a wallet cannot receive an asset of pool or escrow, or null. */
export function receiveRefusal(state: ModelState, asset: Hex, wallet: Wallet): Outcome {
  if (asset === USDC) return state.blacklisted.has(wallet) ? 'Error' : null
  return cleared(state, asset, wallet)
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
  if (amount > balanceOf(state, symbol, 'pool')) return 'PoolShort'
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

/** The check that a wallet may send or receive shares. */
export function cleared(state: ModelState, symbol: Hex, wallet: Wallet): Outcome {
  if (!state.kyc.has(wallet)) return 'NotCleared'
  return state.frozen.has(`${symbol} ${wallet}`) ? 'WalletFrozen' : null
}
