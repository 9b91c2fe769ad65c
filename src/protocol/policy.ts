import canonicalize from 'canonicalize'
import * as z from 'zod'
import type { Hex } from './hex.js'
import { symbolSchema } from './identifiers.js'
import { keccak256 } from './keccak.js'
import { uint256Schema } from './units.js'

const rulesSchema = z.strictObject({
  canBuy: z.boolean(),
  canSell: z.boolean(),
  /** Symbols that this employee may not trade. */
  restricted: z
    .array(symbolSchema)
    .max(500)
    .refine((symbols) => new Set(symbols).size === symbols.length, 'a symbol is listed twice'),
})

/** An institution's rulebook. Keys of `employees` are lower-case addresses. */
export const policySchema = z.strictObject({
  employees: z.record(z.string().regex(/^0x[0-9a-f]{40}$/, 'expected a lower-case address'), rulesSchema),
  /** USDC base units. */
  maxOrderNotional: uint256Schema,
  allowWithdrawShares: z.boolean(),
})
export type Policy = z.output<typeof policySchema>

/** `keccak256(utf8(RFC 8785 canonical JSON of the policy))`. */
export function policyHash(policy: Policy): Hex {
  const json = canonicalize(z.encode(policySchema, policy))
  return keccak256(new TextEncoder().encode(json))
}
