// Only the sandbox's build of the page has this file.
import type { AcceptedProgram, Measurements } from '../../src/attestation/index.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'

/** @param root SHA-256 of the certificate of the stand-in's root, in hex */
export function measuredBelow(root: string, programs: readonly AcceptedProgram[]): Measurements {
  const verify = createVerifier(BORN, root, 'test')
  return (attestation, expected) => verify(attestation, { ...expected, programs })
}
