// The relay's receipts: the answer of GET /relay/:digest.
import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { receiptStatusSchema, revertSchema } from './api.js'
import { bytes32Schema } from './hex.js'
import { OPENING_TYPES } from './postedOpening.js'
import { PRIMARY_TYPES } from './primaryTypes.js'
import { uint256Schema } from './units.js'

const timeSchema = z.iso.datetime()

/** What the relay sends: the enclave's authorizations, openings of accounts, and corporate actions that the owner has proposed. */
export const RELAYED_TYPES = [...PRIMARY_TYPES, ...OPENING_TYPES, 'ActionEnactment'] as const
export type RelayedType = (typeof RELAYED_TYPES)[number]

export const receiptSchema = z.object({
  digest: bytes32Schema,
  primaryType: z.enum(RELAYED_TYPES),
  target: addressSchema,
  status: receiptStatusSchema,
  txHash: z.nullable(bytes32Schema),
  blockNumber: z.nullable(z.int().check(z.minimum(0))),
  gasUsed: z.nullable(uint256Schema),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  error: z.nullable(revertSchema),
})
/** The error of a receipt that failed without spending gas: every node that answered refused the transaction. */
export const REFUSED_BY_NODES = 'RefusedByNodes'
/** The relay's record of one authorization. */
export type Receipt = z.output<typeof receiptSchema>

/** Whether the receipt has reached a terminal status. */
export function isFinal({ status }: Pick<Receipt, 'status'>): boolean {
  return status === 'confirmed' || status === 'failed'
}
