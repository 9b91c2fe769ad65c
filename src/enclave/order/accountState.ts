import type { Hex } from '../../protocol/hex.js'
import { paddedBytesOf, portfolioHashAfter } from '../../protocol/ledgerBlob.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { Run } from '../run.js'
import { boundTo, type OrderTerms } from './terms.js'

/** A portfolio as it is on chain; what is written next carries `version + 1`, and `hash` as its predecessor's. */
export interface AccountState {
  account: Hex
  portfolio: Portfolio
  version: bigint
  /** The ledger's running hash of everything that was written so far. */
  hash: Hex
  /** Bytes of its padded plaintext. */
  bytes: number
}

/** The escrow states in which a portfolio is written outside of a settlement: `OrderEscrow.State`. */
const REQUIRED_STATE = { OPEN: 1n, REFUNDED: 3n }

/**
 * Writes a portfolio outside of a settlement and returns the state after it. The contracts refuse it unless the
 * escrow still has this very order, in the required state.
 * @throws ConflictError
 */
export async function writePortfolio(
  run: Run,
  state: AccountState,
  portfolio: Portfolio,
  { terms, required }: { terms: OrderTerms; required: keyof typeof REQUIRED_STATE },
): Promise<AccountState> {
  const { account } = state
  const sealed = await run.portfolios.seal(account, portfolio, state)
  await run.authorizer.submit({
    primaryType: 'PortfolioUpdate',
    message: { ...boundTo(terms), state: REQUIRED_STATE[required], ...sealed },
  })
  return {
    account,
    portfolio,
    version: sealed.version,
    hash: portfolioHashAfter(state.hash, sealed),
    bytes: paddedBytesOf(sealed.enclaveBlob),
  }
}
