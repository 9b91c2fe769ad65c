import * as z from 'zod'
import { addressSchema } from './address.js'
import { attestationSchema, enclaveModeSchema } from './attestation.js'
import { chainIdSchema } from './identifiers.js'
import { publicKeySchema } from './publicKey.js'

/** The enclave that the chain's next signer is of. */
export const nextEnclaveSchema = /* @__PURE__ */ z.object({
  signer: addressSchema,
  /** The time at which it takes over. */
  effectiveAt: z.iso.datetime(),
  /** Its own key and evidence; absent until it has posted some. */
  publicKey: publicKeySchema.optional(),
  attestation: attestationSchema.optional(),
})

/** The answer of `GET /enclave-key`: the key to seal to, and where. */
export const enclaveKeySchema = z.object({
  publicKey: publicKeySchema,
  chainId: chainIdSchema,
  escrow: addressSchema,
  scheme: z.string(),
  usdc: addressSchema,
  /** Whether `POST /orders` takes an `opening`; absent at a server that does not know it. */
  takesOpenings: z.boolean().optional(),
  /** Absent where the enclave gives none. */
  attestation: attestationSchema.optional(),
  /** `attested` only beside an attestation. Absent at a server that does not know it. */
  mode: enclaveModeSchema.optional(),
  /** The enclave that the chain's next signer is of; absent while no change is scheduled. */
  next: nextEnclaveSchema.optional(),
})
export type EnclaveKey = z.output<typeof enclaveKeySchema>
