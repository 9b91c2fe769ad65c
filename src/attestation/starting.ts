// What an enclave says of itself before it has its keys. Holders of shares of the master key verify it; no client does.
import type { Hex } from '../protocol/hex.js'
import { type CommonStatement, formOf, PUBLIC_KEY } from './statement.js'
import { type CommonExpectation, createVerifier, type EvidenceVerifier } from './verify.js'

/** An enclave that waits for its keys: holders seal to `sealKey`, which was drawn at this start and ends with it. */
export interface StartingStatement extends CommonStatement {
  readonly origin: 'starting'
  /** The chain has no key of it. */
  readonly signer?: undefined
  /** `sharesDigest` of the shares of a master key that it has drawn, and shows beside its evidence. */
  readonly shares?: Hex
}

export const STARTING = formOf<StartingStatement>('starting', `${PUBLIC_KEY}(?:,"shares":"0x[0-9a-f]{64}")?`)

/** The verifier of holders: all checks of `createVerifier`, which takes the same arguments, but that of the signer: there is none yet. */
export function createStartingVerifier(root: string, format?: string, verifyOther?: EvidenceVerifier) {
  const verify = createVerifier(STARTING, root, format, verifyOther)
  return (attestation: unknown, expected: CommonExpectation) =>
    verify(attestation, { ...expected, signer: undefined })
}
export type StartingVerifier = ReturnType<typeof createStartingVerifier>
