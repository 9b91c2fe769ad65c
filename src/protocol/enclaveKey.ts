import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { attestationSchema, enclaveModeSchema } from './attestation.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './point.js'

/** The enclave that the chain's next signer is of. */
const nextEnclaveSchema = /* @__PURE__ */ z.object({
  signer: addressSchema,
  /** The time at which it takes over. */
  effectiveAt: z.iso.datetime(),
  /** Its own key and evidence; absent until it has posted some. */
  publicKey: z.optional(publicKeySchema),
  attestation: z.optional(attestationSchema),
})

/** The answer of `GET /enclave-key`: the key to seal to, and where. */
export const enclaveKeySchema = z.object({
  publicKey: publicKeySchema,
  chainId: chainIdSchema,
  escrow: addressSchema,
  scheme: z.string(),
  usdc: addressSchema,
  /** Whether `POST /orders` takes an `opening`; absent at a server that does not know it. */
  takesOpenings: z.optional(z.boolean()),
  /** Absent where the enclave gives none. */
  attestation: z.optional(attestationSchema),
  /** `attested` only beside an attestation. Absent at a server that does not know it. */
  mode: z.optional(enclaveModeSchema),
  /** The enclave that the chain's next signer is of; absent while no change is scheduled. */
  next: z.optional(nextEnclaveSchema),
})
export type EnclaveKey = z.output<typeof enclaveKeySchema>
