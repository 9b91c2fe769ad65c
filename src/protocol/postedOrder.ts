// The body of POST /orders.

import * as z from 'zod/mini'
import { orderEnvelopeSchema } from './envelopeForm.js'
import { bytes32Schema } from './hex.js'
import { postedOpeningSchema } from './postedOpening.js'

export const postOrderSchema = z.strictObject({
  orderId: bytes32Schema,
  ...orderEnvelopeSchema.shape,
  /** The server opens the escrow with it. Absent where the account opens the escrow itself. */
  opening: z.optional(postedOpeningSchema),
})
export type PostOrder = z.output<typeof postOrderSchema>
