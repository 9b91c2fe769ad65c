// The contracts' balances and orders as plain maps: the state of the reference model.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { BoundOrder } from '../authorizations.js'
import { USDC, ZERO_BYTES32 } from '../institution.js'
import { SYMBOLS, WALLETS, type Wallet } from './steps.js'

/** Everyone who may hold money. */
export const HOLDERS = [...WALLETS, 'escrow', 'pool', 'broker'] as const
export type Holder = (typeof HOLDERS)[number]

export interface ModelOrder {
  /** As authorizations must name it. */
  bound: BoundOrder
  account: Wallet
  deadline: number
  open: boolean
}

/** A portfolio: how often it was written, and the running hash of its writes. */
interface ModelPortfolio {
  version: bigint
  hash: Hex
}

/** USDC that each wallet begins with. */
export const INITIAL_USDC = 1_000_000_000n

export interface ModelState {
  /** Time of the block that the next step is in. */
  time: number
  /** By asset (`USDC` or a symbol) and holder. */
  balances: Map<Hex, Map<Holder, bigint>>
  /** Σ mints − Σ burns, by symbol. */
  supply: Map<Hex, bigint>
  batches: Map<Hex, bigint>
  orders: ModelOrder[]
  portfolios: Map<Wallet, ModelPortfolio>
  kyc: Set<Wallet>
  /** `symbol wallet`. */
  frozen: Set<string>
  /** By USDC. */
  blacklisted: Set<Wallet>
  /** By asset and wallet: what the escrow keeps for it. */
  claims: Map<Hex, Map<Wallet, bigint>>
  /** `wallet asset`, and where that wallet's claims in the asset may go. */
  recipients: Map<string, Wallet>
  /** End of the last pause, 0 before the first. */
  pausedUntil: number
  listed: Set<Hex>
  /** Every authorization that was sent, and the digests of those that took effect. */
  relayed: Authorization[]
  used: Set<Hex>
}

export function initialState(time: number): ModelState {
  const holdings = (amount: bigint) =>
    new Map<Holder, bigint>(WALLETS.map((wallet): [Wallet, bigint] => [wallet, amount]))
  const balances = new Map<Hex, Map<Holder, bigint>>(
    SYMBOLS.map((symbol): [Hex, Map<Holder, bigint>] => [symbol, holdings(0n)]),
  )
  balances.set(USDC, holdings(INITIAL_USDC))
  return {
    time,
    balances,
    supply: new Map(),
    batches: new Map(),
    orders: [],
    portfolios: new Map(),
    kyc: new Set<Wallet>(['alice', 'bob', 'carol']),
    frozen: new Set(),
    blacklisted: new Set(),
    claims: new Map(),
    recipients: new Map(),
    pausedUntil: 0,
    listed: new Set([SYMBOLS[0]]),
    relayed: [],
    used: new Set(),
  }
}

export function balanceOf(state: ModelState, asset: Hex, holder: Holder): bigint {
  return state.balances.get(asset)?.get(holder) ?? 0n
}

export function portfolioOf(state: ModelState, wallet: Wallet): ModelPortfolio {
  return state.portfolios.get(wallet) ?? { version: 0n, hash: ZERO_BYTES32 }
}

export function claimOf(state: ModelState, asset: Hex, wallet: Wallet): bigint {
  return state.claims.get(asset)?.get(wallet) ?? 0n
}

/** All claims in an asset. */
export function claimedOf(state: ModelState, asset: Hex): bigint {
  return WALLETS.reduce((sum, wallet) => sum + claimOf(state, asset, wallet), 0n)
}

export function setClaim(state: ModelState, asset: Hex, wallet: Wallet, amount: bigint): void {
  const claims = state.claims.get(asset) ?? new Map<Wallet, bigint>()
  state.claims.set(asset, claims.set(wallet, amount))
}

/** The USDC of open orders, or the shares of open deposits. */
export function escrowedOf({ orders }: ModelState, asset: Hex): bigint {
  const held = orders.filter(({ open, bound }) => open && bound.asset === asset)
  return held.reduce((sum, { bound }) => sum + bound.amount, 0n)
}

/** Moves money; null is nowhere, from or to which shares are minted or burned. */
export function move(state: ModelState, asset: Hex, from: Holder | null, to: Holder | null, amount: bigint) {
  const holdings = state.balances.get(asset)
  if (!holdings) throw new Error(`the model knows no asset ${asset}`)
  if (from) holdings.set(from, (holdings.get(from) ?? 0n) - amount)
  if (to) holdings.set(to, (holdings.get(to) ?? 0n) + amount)
}
