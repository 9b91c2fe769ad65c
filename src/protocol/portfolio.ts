import * as z from 'zod/mini'
import { bytes32Schema, type Hex } from './hex.js'
import { symbolSchema } from './identifiers.js'
import { limitSchema, sideSchema, timestampSchema } from './orderTerms.js'
import { publicKeySchema } from './point.js'
import { uint256Schema } from './units.js'

const positionSchema = z.strictObject({
  /** Share base units (9 decimals). */
  qty: uint256Schema,
  /** The part of `qty` that open orders lock: the sum of their `locked`. */
  locked: uint256Schema,
})
export type Position = z.output<typeof positionSchema>

export const openOrderSchema = z.strictObject({
  side: sideSchema,
  symbol: symbolSchema,
  /** USDC base units. */
  notional: uint256Schema,
  /** USDC base units held by the escrow; 0 for a sale and for a buy from cash. */
  escrow: uint256Schema,
  /** Share base units that this order locks. */
  locked: uint256Schema,
  /** Empty, or `never-placed` once the enclave has decided not to send the order; never the broker's own id. */
  brokerOrderId: z.string().check(z.maxLength(64)),
  /** Unix seconds. */
  placedAt: timestampSchema,
  /** Absent for an order at the market's price. */
  limit: z.optional(limitSchema),
})
export type OpenOrder = z.output<typeof openOrderSchema>

/** The plaintext of both portfolio blobs. Decode JSON with `.parse`, encode with `z.encode`. */
export const portfolioSchema = z.strictObject({
  /** USDC base units. */
  cash: uint256Schema,
  positions: z.record(symbolSchema, positionSchema),
  openOrders: z.record(bytes32Schema, openOrderSchema),
  /** The last accepted intent nonce. */
  nonce: z.int().check(z.minimum(0)),
  userPubKey: publicKeySchema,
  /** The number of corporate actions that it has followed; absent for none. */
  actions: z.optional(z.int().check(z.minimum(0))),
  /** Unix seconds at which the enclave computed it; absent for one that is older than every corporate action. */
  writtenAt: z.optional(timestampSchema),
  /** Share base units with a claim to a dividend that was not paid yet, by the index of its ENTITLEMENT; absent for none. */
  entitlements: z.optional(z.record(z.string().check(z.regex(/^(?:0|[1-9]\d{0,9})$/)), uint256Schema)),
})
export type Portfolio = z.output<typeof portfolioSchema>

/** The initial portfolio of an account. */
export function emptyPortfolio(userPubKey: Hex): Portfolio {
  return { cash: 0n, positions: {}, openOrders: {}, nonce: 0, userPubKey }
}

/** USDC base units: `cash` minus the notionals of open buys without escrowed USDC. */
export function freeCash({ cash, openOrders }: Pick<Portfolio, 'cash' | 'openOrders'>): bigint {
  return Object.values(openOrders)
    .filter(({ side, escrow }) => side === 'BUY' && escrow === 0n)
    .reduce((free, { notional }) => free - notional, cash)
}

/** Share base units of a symbol that no open order locks. */
export function freeShares({ positions }: Pick<Portfolio, 'positions'>, symbol: string): bigint {
  const position = positions[symbol]
  return position === undefined ? 0n : position.qty - position.locked
}
