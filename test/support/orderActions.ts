import { expect } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { signedCall } from './authorizations.js'
import type { TestChain } from './chain.js'
import { AAPL, ORG } from './institution.js'
import type { Role } from './roles.js'

/** Blobs of a refund that writes no portfolio. */
export const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const
/** The contract's states, in its order. */
export const STATE = { OPEN: 1n, SETTLED: 2n, REFUNDED: 3n }

/** What tests of the escrow do and look at, again and again. */
export function orderActions(chain: () => TestChain) {
  const account = (role: Role): Hex => chain().account(role)
  const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)
  const relay = (authorization: Authorization) =>
    chain().send('relayer', ...signedCall(chain(), authorization))
  return {
    account,
    relay,
    relayRevert: (authorization: Authorization) =>
      chain().revert('relayer', ...signedCall(chain(), authorization)),
    reclaimRevert: (from: Role, orderId: Hex) => chain().revert(from, 'escrow', 'reclaim', orderId),
    usdcOf,
    sharesOf: (address: Hex) => chain().read('token', 'balanceOf', address, BigInt(AAPL)),
    versionOf: (role: Role) => chain().read('ledger', 'portfolioVersion', accountIdOf(account(role))),
    async stateOf(orderId: Hex): Promise<unknown> {
      const order = await chain().read('escrow', 'orders', orderId)
      return Array.isArray(order) ? order.at(-1) : undefined
    },
    /** The events of the escrow and the ledger in a transaction. */
    async orderEvents(sent: ReturnType<typeof relay>) {
      const declared = ['OrderSettled', 'OrderRefunded', 'PortfolioUpdated']
      return chain()
        .events(await sent)
        .filter(({ name }) => declared.includes(name))
        .map(({ name, args }) => [name, ...args])
    },
    /** Every order in the escrow has ended. */
    async expectNothingOpen(role: Role): Promise<void> {
      expect(await chain().read('escrow', 'openOrders')).toBe(0n)
      expect(await chain().read('escrow', 'openOrdersOf', ORG)).toBe(0n)
      expect(await chain().read('escrow', 'openOrdersBy', account(role))).toBe(0n)
      expect(await usdcOf(chain().addressOf('escrow'))).toBe(0n)
    },
  }
}
