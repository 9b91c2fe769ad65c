import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type BoundOrder, orderOf, signedCall } from './authorizations.js'
import type { TestChain } from './chain.js'
import { AAPL, openBuy, openRequest } from './institution.js'
import { nextWrite } from './orderEnds.js'
import type { Role } from './roles.js'

/** Blobs of a refund that writes no portfolio. */
export const EMPTY = { enclaveBlob: '0x', userBlob: '0x' } as const
/** The contract's states, in its order. */
export const STATE = { OPEN: 1n, SETTLED: 2n, REFUNDED: 3n }

/** Actions and reads that tests of orders share. */
export function orderActions(chain: () => TestChain) {
  const account = (role: Role): Hex => chain().account(role)
  const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)
  const relay = (authorization: Authorization) =>
    chain().send('relayer', ...signedCall(chain(), authorization))
  return {
    account,
    relay,
    /** Opens a buy, and returns it as authorizations name it. */
    buy: async (role: Role, name: string, amount: bigint): Promise<BoundOrder> =>
      orderOf(chain(), await openBuy(chain(), role, name, amount)),
    /** Opens a request, and returns it as authorizations name it. */
    request: async (role: Role, name: string): Promise<BoundOrder> =>
      orderOf(chain(), await openRequest(chain(), role, name)),
    /** The portfolio's version and running hash now. */
    async presentOf(role: Role) {
      const { version, previous } = await nextWrite(chain(), account(role))
      return { version: version - 1n, previous }
    },
    /** The version and the hash that the portfolio's next write must carry. */
    nextOf: (role: Role) => nextWrite(chain(), account(role)),
    relayRevert: (authorization: Authorization) =>
      chain().revert('relayer', ...signedCall(chain(), authorization)),
    usdcOf,
    sharesOf: (address: Hex) => chain().read('token', 'balanceOf', address, AAPL),
    async stateOf(orderId: Hex): Promise<unknown> {
      const order = await chain().read('escrow', 'orders', orderId)
      return Array.isArray(order) ? order.at(5) : undefined
    },
  }
}
