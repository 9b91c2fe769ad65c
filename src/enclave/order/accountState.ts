import type { Hex } from '../../protocol/hex.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { Run } from '../run.js'

/** A portfolio at the version that is on chain; what is written next carries `version + 1`. */
export interface AccountState {
  account: Hex
  portfolio: Portfolio
  version: bigint
}

/** Writes a portfolio outside of a settlement and returns the state after it. @throws ConflictError */
export async function writePortfolio(
  run: Run,
  { account, version }: AccountState,
  portfolio: Portfolio,
): Promise<AccountState> {
  const sealed = await run.portfolios.seal(account, portfolio, version + 1n)
  await run.authorizer.submit({
    primaryType: 'PortfolioUpdate',
    message: { accountId: accountIdOf(account), ...sealed },
  })
  return { account, portfolio, version: version + 1n }
}
