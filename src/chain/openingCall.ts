import { Result } from 'ethers'
import { z } from 'zod/mini'
import { addressSchema } from '../protocol/address.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import type { OrderOpening } from '../protocol/opening.js'
import { interfaces } from './interfaces.js'

const escrow = interfaces.orderEscrow
const METHODS = { buy: 'openBuyFor', request: 'openRequestFor' } as const

const selectorOf = (method: string) => escrow.getFunction(method)?.selector
const SELECTORS = new Set([selectorOf(METHODS.buy), selectorOf(METHODS.request)])
const SELECTOR_CHARS = 10

/** Calldata of the escrow's function that opens the order. */
export function encodeOpeningCall(order: OrderOpening, signature: Hex): Hex {
  const method = order.amount > 0n ? METHODS.buy : METHODS.request
  return `0x${escrow.encodeFunctionData(method, [order, signature]).slice(2)}`
}

/** The fields of a signed opening that the escrow stores. */
export type SignedOrder = Omit<OrderOpening, 'validBefore'>

const openedSchema = z.object({
  account: addressSchema,
  orderId: bytes32Schema,
  commit: bytes32Schema,
  amount: z._default(z.bigint(), 0n),
  deadline: z.pipe(z.bigint(), z.transform(Number)),
})

/** The order that calldata of {@link encodeOpeningCall} opens; null for calldata of any other function. */
export function openedByCall(data: Hex): SignedOrder | null {
  if (!SELECTORS.has(data.slice(0, SELECTOR_CHARS))) return null
  const [struct]: unknown[] = escrow.parseTransaction({ data })?.args.toArray() ?? []
  return struct instanceof Result ? openedSchema.parse(struct.toObject()) : null
}
