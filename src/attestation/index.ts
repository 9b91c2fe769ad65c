// Everything of this folder that clients use, as `confidential-trading-client/attestation`.
import { AWS_NITRO_ROOT } from './nitro.js'
import { type AcceptedProgram, checkPolicy } from './policy.js'
import { BORN } from './statement.js'
import { createVerifier, type Measurements } from './verify.js'

export { AttestationError, type AttestationErrorCode } from './errors.js'
export type { Registers } from './nitro.js'
export type { AcceptedProgram } from './policy.js'
export type { CommonStatement, Statement } from './statement.js'
export type { CommonExpectation, Expectation, Measurements, Verified } from './verify.js'

/**
 * Verifies that an enclave's keys were born in an accepted program, with an accepted configuration, and are those of the chain.
 * @param attestation `{ format, evidence, statement }`, as the enclave gave it: `aws-nitro`, Base64, canonical JSON
 * @throws AttestationError with the code of the first check that fails, in the order of docs/attestation.md
 */
export const verifyAttestation = /* @__PURE__ */ createVerifier(BORN, AWS_NITRO_ROOT)

/**
 * The `measurements` of `createClient`.
 * @param programs at least one
 * @throws AttestationError `malformed-policy`
 */
export function measuredBy(programs: readonly AcceptedProgram[]): Measurements {
  checkPolicy(programs)
  return (attestation, expected) => verifyAttestation(attestation, { ...expected, programs })
}
