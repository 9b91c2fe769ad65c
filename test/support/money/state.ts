// What the contracts hold, as plain maps: the state of the reference model.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { USDC } from '../institution.js'
import { SYMBOLS, WALLETS, type Wallet } from './steps.js'

/** Everyone who may hold money. */
export const HOLDERS = [...WALLETS, 'escrow', 'pool', 'broker'] as const
export type Holder = (typeof HOLDERS)[number]

export interface ModelOrder {
  orderId: Hex
  account: Wallet
  amount: bigint
  deadline: number
  open: boolean
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
  versions: Map<Wallet, bigint>
  kyc: Set<Wallet>
  /** `symbol wallet`. */
  frozen: Set<string>
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
    versions: new Map(),
    kyc: new Set<Wallet>(['alice', 'bob', 'carol']),
    frozen: new Set(),
    listed: new Set([SYMBOLS[0]]),
    relayed: [],
    used: new Set(),
  }
}

export function balanceOf(state: ModelState, asset: Hex, holder: Holder): bigint {
  return state.balances.get(asset)?.get(holder) ?? 0n
}

/** Moves money; null is nowhere, from or to which shares are minted or burned. */
export function move(state: ModelState, asset: Hex, from: Holder | null, to: Holder | null, amount: bigint) {
  const holdings = state.balances.get(asset)
  if (!holdings) throw new Error(`the model knows no asset ${asset}`)
  if (from) holdings.set(from, (holdings.get(from) ?? 0n) - amount)
  if (to) holdings.set(to, (holdings.get(to) ?? 0n) + amount)
}
