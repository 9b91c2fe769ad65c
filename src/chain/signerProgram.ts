import * as z from 'zod/mini'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'

/** Digests of the program that a signer's key was born in, and of its public configuration. */
export interface SignerProgram {
  readonly measurement: Hex
  readonly config: Hex
}

/** A program as `Authority` returns it; null beside a signer whose key is in a file. */
export const programValue = z.pipe(
  z.tuple([bytes32Schema, bytes32Schema]),
  z.transform(([measurement, config]): SignerProgram | null =>
    measurement === ZERO_BYTES32 ? null : { measurement, config },
  ),
)

export function isSameProgram(a: SignerProgram | null, b: SignerProgram | null): boolean {
  return a?.measurement === b?.measurement && a?.config === b?.config
}
