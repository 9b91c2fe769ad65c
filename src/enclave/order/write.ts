// Every authorization that a run of an order signs. Each names the order and the state that it was computed from.
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { RunResult } from '../../protocol/job.js'
import { paddedBytesOf, portfolioHashAfter } from '../../protocol/ledgerBlob.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { BlockPoint } from '../heads.js'
import { tradeOf, USDC, withDeposit, withFill, withOrder, withoutOrder, withoutPayout } from '../money.js'
import { type NoticeCode, noticeOf, REST_ENDED, tradeWords } from '../notices.js'
import { mintShortage } from '../reconcile.js'
import type { Run } from '../run.js'
import type { StoredPortfolio } from '../stores.js'
import { COST_OVER_NOTIONAL, costsMore } from './atBroker.js'
import {
  type AccountState,
  type BoundTerms,
  boundTo,
  type Ended,
  markedEntry,
  type NeverPlaced,
  newEntry,
  type OrderTerms,
  type WrittenAhead,
} from './life.js'
import { type Placed, sharesToday, wholeOf } from './placements.js'
import { readFills } from './read.js'

/** A new order that was let in, and not written yet. */
export interface Admitted {
  /** With the intent's nonce and key in its portfolio. */
  state: AccountState
  terms: OrderTerms
  /** Share base units that a sale locks. */
  lock: bigint
}

/** A notice's content, and the key that it is sealed to. */
interface Message {
  code: NoticeCode
  userPubKey: Hex
  detail?: string
}

/** The escrow states in which a portfolio is written outside of a settlement: `OrderEscrow.State`. */
const REQUIRED_STATE = { OPEN: 1n, REFUNDED: 3n }

/** Says when a portfolio was computed: a corporate action with an earlier record moment asks for an earlier one. */
function stamped({ clock }: Run, portfolio: Portfolio): Portfolio {
  return { ...portfolio, writtenAt: clock.seconds() }
}

/**
 * Writes a portfolio outside of a settlement and returns the state after it. The contracts refuse it unless the
 * escrow still has this very order, in the required state.
 * @throws ConflictError
 */
export async function writePortfolio(
  run: Run,
  state: AccountState,
  portfolio: Portfolio,
  { terms, required }: { terms: BoundTerms; required: keyof typeof REQUIRED_STATE },
): Promise<AccountState> {
  const { account } = state
  const sealed = await run.portfolios.seal(account, stamped(run, portfolio), state)
  await run.authorizer.submit({
    primaryType: 'PortfolioUpdate',
    message: { ...boundTo(terms), state: REQUIRED_STATE[required], ...sealed },
  })
  return {
    ...state,
    portfolio,
    version: sealed.version,
    hash: portfolioHashAfter(state.hash, sealed),
    bytes: paddedBytesOf(sealed.enclaveBlob),
  }
}

/**
 * Step 5: writes an admitted order into the portfolio, confirmed before the broker hears of it. From here on a run
 * that died is picked up by the next one, and what the order needs is locked or reserved.
 */
export async function writeAhead(run: Run, { state, terms, lock }: Admitted): Promise<WrittenAhead> {
  const entry = newEntry(terms, lock, run.clock.seconds())
  const portfolio = withOrder(state.portfolio, terms.orderId, entry)
  const written = await writePortfolio(run, state, portfolio, { terms, required: 'OPEN' })
  return { is: 'writtenAhead', state: written, terms, entry, earlier: [] }
}

/** Marks an order written ahead, so that no run that looks at the chain from then on sends it. */
export async function writeNeverPlaced(
  run: Run,
  { state, terms, entry, earlier }: WrittenAhead,
): Promise<NeverPlaced> {
  const marked = markedEntry(entry)
  const portfolio = withOrder(withoutOrder(state.portfolio, terms.orderId), terms.orderId, marked)
  const written = await writePortfolio(run, state, portfolio, { terms, required: 'OPEN' })
  return { is: 'neverPlaced', state: written, terms, entry: marked, earlier }
}

/**
 * The whole escrow goes to the pool; the part that a buy did not cost is credited to `cash`, so that the price does not show.
 * @param code why the order ended, where it was not filled whole
 */
export async function settle(
  run: Run,
  { state, terms, entry, ...placed }: Ended,
  code: NoticeCode,
): Promise<RunResult> {
  const order = wholeOf(placed)
  const excess = costsMore(entry, order)
  const qty = await sharesOf(run, state, placed)
  const credit = { credited: terms.escrowed, fees: run.fees, qty }
  const settled = withFill(state.portfolio, terms.orderId, order, credit)
  const notice = await leaveFilled(run, { state, terms, entry, order }, { qty, code })
  await submitSettlement(run, { state, terms }, settled)
  return { outcome: 'settled', ...notice, ...(excess && { code: COST_OVER_NOTIONAL }) }
}

/** The shares of an order's fills, as those that the portfolio holds: splits since the fills count. */
export async function sharesOf(
  run: Run,
  { portfolio }: Pick<AccountState, 'portfolio'>,
  { order, earlier }: Placed,
): Promise<bigint> {
  const all = await run.chain.actions((await run.chain.look()).head)
  const actions = all.slice(0, portfolio.actions ?? 0)
  const fills = await Promise.all([...earlier, order].map((each) => readFills(run, each, actions)))
  return sharesToday(fills.flat(), actions).reduce((sum, { qty }) => sum + qty, 0n)
}

/** Says what a trade came to in the shares of today, fees included. Buys too: a notice of sales alone would show the server which order is one. */
async function leaveFilled(
  run: Run,
  { state, terms, entry, order }: Omit<Ended, 'is' | 'earlier'>,
  { qty, code }: { qty: bigint; code: NoticeCode },
): Promise<Pick<RunResult, 'notice'>> {
  const { side, symbol } = entry
  if (side !== 'BUY' && side !== 'SELL') return {}
  const trade = { side, symbol, qty, ...tradeOf(entry, order, run.fees) }
  const { userPubKey } = state.portfolio
  const words = [tradeWords(trade, run.fees), ...(code === 'corporate-action' ? [REST_ENDED] : [])]
  return postNotice(run, terms.orderId, { code: 'filled', userPubKey, detail: words.join(' ') })
}

/**
 * Pays cash or shares out of the pool to the account's wallet, also while the market is closed. Shares that the pool lacks are
 * minted first, as far as the broker holds more than were minted so far.
 */
export async function withdraw(run: Run, { state, terms }: Admitted): Promise<RunResult> {
  const { portfolio } = state
  const { symbol, amount } = terms
  if (symbol !== USDC) await mintShortage(run, symbol, amount)
  const { head } = await run.chain.look()
  if ((await inPool(run, symbol, head)) < amount) {
    return refundUnwritten(run, terms, state, { code: 'pool-short', userPubKey: portfolio.userPubKey })
  }
  await submitSettlement(run, { state, terms }, withoutPayout(portfolio, symbol, amount), { symbol, amount })
  return { outcome: 'settled' }
}

/** Credits the escrow's content, which the settlement moves to the pool, also while the market is closed. */
export async function deposit(run: Run, { state, terms }: Admitted): Promise<RunResult> {
  await submitSettlement(run, { state, terms }, withDeposit(state.portfolio, terms.symbol, terms.amount))
  return { outcome: 'settled' }
}

/** Writes the portfolio of a settled order. A trade and a deposit pay nothing out. */
export async function submitSettlement(
  run: Run,
  { state, terms }: { state: AccountState; terms: BoundTerms },
  portfolio: Portfolio,
  paid?: { symbol: string; amount: bigint },
): Promise<void> {
  const payoutAsset = paid ? nameToBytes32(paid.symbol) : ZERO_BYTES32
  const sealed = await run.portfolios.seal(state.account, stamped(run, portfolio), state)
  await run.authorizer.submit({
    primaryType: 'OrderSettlement',
    message: { ...boundTo(terms), payoutAsset, payout: paid?.amount ?? 0n, ...sealed },
  })
}

async function inPool({ chain }: Run, symbol: string, { hash }: BlockPoint): Promise<bigint> {
  const pool = chain.addresses.platformPool
  if (symbol === USDC) return (await chain.usdc()).balanceOf(pool, hash)
  return chain.token.balanceOf(pool, nameToBytes32(symbol), hash)
}

/**
 * Refunds an order that is not in the portfolio. Nothing is written, but the refund is void once the portfolio
 * changes: a run that writes the order ahead is sure that no earlier refund can end it.
 */
export async function refundUnwritten(
  run: Run,
  terms: BoundTerms,
  { version, hash, followed }: StoredPortfolio,
  message?: Message,
): Promise<RunResult> {
  const notice = await postNotice(run, terms.orderId, message)
  await run.authorizer.submit({
    primaryType: 'OrderRefund',
    message: {
      ...{ ...boundTo(terms), version, previous: hash, actions: followed.listHash },
      ...{ enclaveBlob: '0x', userBlob: '0x' },
    },
  })
  return { outcome: 'refunded', ...notice }
}

/** Refunds an order that is in the portfolio: it is removed and unlocked in the same transaction. */
export async function refundWrittenAhead(
  run: Run,
  { state, terms }: Ended | NeverPlaced,
  code: NoticeCode,
): Promise<RunResult> {
  const { userPubKey } = state.portfolio
  const notice = await postNotice(run, terms.orderId, { code, userPubKey })
  await submitRefund(run, { state, terms })
  return { outcome: 'refunded', ...notice }
}

/** Removes an order from the portfolio, and unlocks what it locked, with the refund of its escrow. */
export async function submitRefund(
  run: Run,
  { state, terms }: { state: AccountState; terms: BoundTerms },
): Promise<void> {
  const { account, portfolio } = state
  const sealed = await run.portfolios.seal(
    account,
    stamped(run, withoutOrder(portfolio, terms.orderId)),
    state,
  )
  await run.authorizer.submit({ primaryType: 'OrderRefund', message: { ...boundTo(terms), ...sealed } })
}

/** Posts the notice before anything is relayed: a crash in between does not lose it. */
export async function postNotice(
  run: Run,
  orderId: Hex,
  message?: Message,
): Promise<Pick<RunResult, 'notice'>> {
  if (!message) return {}
  const notice = await noticeOf(orderId, message.code, message.userPubKey, message.detail)
  await run.report({ outcome: 'failed', notice })
  return { notice }
}
