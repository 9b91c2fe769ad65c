import type { Hex } from '../../../src/protocol/hex.js'
import { batchMint, digestOf } from '../../support/authorizations.js'
import { type TestChain, useChain } from '../../support/chain.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'

/** The authorization that most tests of the relay are about. */
export const MINT = batchMint(AAPL, shares(5))

/** A chain for a test file with an institution on it, and the digest of {@link MINT} there. */
export function useMintChain(): { chain: () => TestChain; digest: () => Hex } {
  const chain = useChain(setUpInstitution)
  return { chain, digest: () => digestOf(chain(), MINT) }
}
