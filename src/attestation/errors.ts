/** Why an attestation is not accepted, in the order of the checks. docs/attestation.md lists the meanings. */
export type AttestationErrorCode =
  // The input.
  | ('malformed-policy' | 'malformed-attestation' | 'unsupported-format')
  // The evidence.
  | ('malformed-evidence' | 'unsupported-algorithm' | 'unknown-root' | 'broken-chain')
  | ('certificate-expired' | 'certificate-misused' | 'invalid-signature')
  | DstackErrorCode
  // What it attests.
  | ('debug-mode' | 'outdated' | 'wrong-nonce' | 'unknown-program' | 'retired-program' | 'statement-differs')
  // What the program says of itself.
  | ('malformed-statement' | 'unsupported-version' | 'wrong-chain' | 'wrong-escrow')
  | ('wrong-signer' | 'wrong-configuration')

/** What Intel says of a processor, and dstack of a start. */
export type DstackErrorCode =
  | ('collateral-missing' | 'collateral-expired' | 'collateral-differs' | 'certificate-revoked')
  | ('untrusted-platform' | 'log-differs')

/** An attestation that is not accepted. */
export class AttestationError extends Error {
  override readonly name = 'AttestationError'

  constructor(readonly code: AttestationErrorCode) {
    super(code)
  }
}

/** @throws AttestationError unless the condition holds */
export function demand(
  condition: boolean,
  code: AttestationErrorCode = 'malformed-evidence',
): asserts condition {
  if (!condition) throw new AttestationError(code)
}
