import type { OpenOrder } from '../../protocol/portfolio.js'
import { withOrder } from '../books.js'
import type { Run } from '../run.js'
import { type AccountState, writePortfolio } from './accountState.js'
import type { Held } from './held.js'
import type { OrderTerms } from './terms.js'

/**
 * Step 5: writes an admitted order into the portfolio, confirmed before the broker hears of it. From here on a run
 * that died is picked up by the next one, and what the order needs is locked or reserved.
 * @param admitted the account's state with the intent's nonce and key in its portfolio
 */
export async function writeAhead(
  run: Run,
  admitted: AccountState,
  terms: OrderTerms,
  locked: bigint,
): Promise<Held> {
  const { orderId, side, symbol, amount, escrowed } = terms
  const entry: OpenOrder = {
    side,
    symbol,
    notional: amount,
    escrow: escrowed,
    locked,
    brokerOrderId: '',
    placedAt: run.clock.seconds(),
  }
  const held = withOrder(admitted.portfolio, orderId, entry)
  const state = await writePortfolio(run, admitted, held, { terms, required: 'OPEN' })
  return { state, terms, entry }
}
