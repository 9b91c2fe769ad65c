// The opening in the body of POST /orders. Apart from its typed data, so that a reader of the API loads no cryptography.
import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { hexOf } from './hex.js'
import { uint256Schema } from './units.js'

const SIGNATURE_BYTES = 65
/** Unix seconds. */
const secondsSchema = z.int().check(z.minimum(0))

/** The order is that of the envelope beside it. `sig` is the account's, over the opening. */
export const postedOpeningSchema = z.strictObject({
  account: addressSchema,
  amount: uint256Schema,
  deadline: secondsSchema,
  validBefore: secondsSchema,
  sig: hexOf(SIGNATURE_BYTES),
})
export type PostedOpening = z.output<typeof postedOpeningSchema>

/** How receipts name an opening. */
export const OPENING_TYPES = ['BuyOpening', 'RequestOpening'] as const

/** Whether a receipt's type is that of an opening. */
export function isOpening(type: string): boolean {
  return OPENING_TYPES.some((opening) => opening === type)
}
