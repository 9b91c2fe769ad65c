import type { MoneyState } from '../../../src/enclave/doctor/invariants.js'

/** The money of a platform without any order. */
export const NO_MONEY: MoneyState = {
  orders: new Map(),
  payouts: new Map(),
  portfolios: new Map(),
  usdc: { pool: 0n, escrow: 0n, escrowed: 0n, claimed: 0n },
  shares: new Map(),
  broker: {
    cash: 0n,
    positions: new Map(),
    orders: new Map(),
    activities: { fills: [], fees: [] },
  },
}
