// `confidential-trading-client/attestation-tdx`: the verifier for clients whose enclave may run on dstack as well.
import { AWS_NITRO_ROOT } from '../nitro.js'
import { type AcceptedProgram, checkPolicy } from '../policy.js'
import { BORN } from '../statement.js'
import { createVerifier, type EvidenceVerifier, type Measurements } from '../verify.js'
import { INTEL_SGX_ROOT, verifyDstack } from './verify.js'

/** @param root SHA-256 of the certificate that every processor's has to descend from, in hex */
export function dstackBelow(root: string): EvidenceVerifier {
  return (format, evidence, now) => (format === 'dstack' ? verifyDstack(evidence, { root, now }) : undefined)
}

/** `verifyAttestation` of `confidential-trading-client/attestation`, which takes evidence of the format `dstack`, too. */
export const verifyAttestation = /* @__PURE__ */ createVerifier(
  BORN,
  AWS_NITRO_ROOT,
  undefined,
  /* @__PURE__ */ dstackBelow(INTEL_SGX_ROOT),
)

/**
 * The `measurements` of `createClient`.
 * @param programs at least one
 * @throws AttestationError `malformed-policy`
 */
export function measuredBy(programs: readonly AcceptedProgram[]): Measurements {
  checkPolicy(programs)
  return (attestation, expected) => verifyAttestation(attestation, { ...expected, programs })
}
