import * as z from 'zod/mini'

/** An enclave's evidence of where its keys were born, as it travels: docs/attestation.md. */
export const attestationSchema = /* @__PURE__ */ z.object({
  /** For example `aws-nitro`. */
  format: z.string(),
  /** Base64. */
  evidence: z.string(),
  /** Canonical JSON. */
  statement: z.string(),
})
export type Attestation = z.output<typeof attestationSchema>

/**
 * Whether an enclave's keys were born in it, and evidence says so, or are those of files, which its operator knows. Evidence of the
 * format `test` comes from a stand-in and proves nothing. `keys-awaited`: none of the chain's signer was posted yet.
 */
export const enclaveModeSchema = /* @__PURE__ */ z.enum(['attested', 'test', 'keys-awaited', 'file-keys'])

/** The format of a stand-in's evidence, which each verifier refuses that is shipped. */
export const TEST_FORMAT = 'test'

/** The mode of an enclave with evidence of a format. */
export const modeOf = (format: string) => (format === TEST_FORMAT ? 'test' : 'attested')
