import * as z from 'zod'

/** An enclave's evidence of where its keys were born, as it travels: docs/attestation.md. */
export const attestationSchema = /* @__PURE__ */ z.object({
  /** For example `aws-nitro`. */
  format: z.string(),
  /** Base64. */
  evidence: z.string(),
  /** Canonical JSON. */
  statement: z.string(),
})
