/** The machine-readable kind of a failure. */
type ProtocolErrorCode =
  | 'invalid-bytes'
  | 'invalid-name'
  | 'invalid-decimal'
  | 'invalid-point'
  | 'invalid-signature'
  | 'wrong-signer'
  | 'undecryptable'
  | 'invalid-plaintext'
  | 'invalid-actions'

/** A value that breaks the wire format. The message names the field and never quotes a secret. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(
    readonly code: ProtocolErrorCode,
    message: string,
  ) {
    super(message)
  }
}
