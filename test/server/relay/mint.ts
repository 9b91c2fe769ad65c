import type { Hex } from '../../../src/protocol/hex.js'
import { batchMint, digestOf, grantOrders } from '../../support/authorizations.js'
import { type TestChain, useChain } from '../../support/chain.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'

/** The authorization that most tests of the relay are about. */
export const MINT = batchMint(AAPL, shares(5))

/** An institution, and an open request of each account: their portfolios can be written. */
export async function setUpPortfolios(chain: TestChain): Promise<void> {
  await setUpInstitution(chain)
  await grantOrders(
    chain,
    chain.anvil.accounts.map(({ address }) => address),
  )
}

/** A chain for a test file with an institution on it, and the digest of {@link MINT} there. */
export function useMintChain(): { chain: () => TestChain; digest: () => Hex } {
  const chain = useChain(setUpPortfolios)
  return { chain, digest: () => digestOf(chain(), MINT) }
}
