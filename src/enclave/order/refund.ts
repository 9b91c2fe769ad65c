import type { Hex } from '../../protocol/hex.js'
import type { RunResult } from '../../protocol/job.js'
import { withoutOrder } from '../books.js'
import { type NoticeCode, noticeOf } from '../notices.js'
import type { StoredPortfolio } from '../portfolioStore.js'
import type { Run } from '../run.js'
import type { AccountState } from './accountState.js'
import { type BoundTerms, boundTo, type OrderTerms } from './terms.js'

/** What is told, and to whom; absent when nothing is trusted enough to seal it to. */
export interface Told {
  code: NoticeCode
  userPubKey: Hex
  detail?: string
}

/**
 * Refunds an order that is not in the portfolio. Nothing is written, but the refund is void once the portfolio
 * changes: a run that writes the order ahead is sure that no earlier refund can end it.
 */
export async function refundUnheld(
  run: Run,
  terms: BoundTerms,
  { version, hash }: Pick<StoredPortfolio, 'version' | 'hash'>,
  told?: Told,
): Promise<RunResult> {
  const notice = await leaveNotice(run, terms.orderId, told)
  await run.authorizer.submit({
    primaryType: 'OrderRefund',
    message: { ...boundTo(terms), version, previous: hash, enclaveBlob: '0x', userBlob: '0x' },
  })
  return { outcome: 'refunded', ...notice }
}

/** Refunds an order that is in the portfolio: it is removed and unlocked in the same transaction. */
export async function refundHeld(
  run: Run,
  state: AccountState,
  terms: OrderTerms,
  code: NoticeCode,
): Promise<RunResult> {
  const { account, portfolio } = state
  const notice = await leaveNotice(run, terms.orderId, { code, userPubKey: portfolio.userPubKey })
  const sealed = await run.portfolios.seal(account, withoutOrder(portfolio, terms.orderId), state)
  await run.authorizer.submit({
    primaryType: 'OrderRefund',
    message: { ...boundTo(terms), ...sealed },
  })
  return { outcome: 'refunded', ...notice }
}

/** Leaves the notice before anything is relayed: a crash in between does not lose what it says. */
export async function leaveNotice(run: Run, orderId: Hex, told?: Told): Promise<Pick<RunResult, 'notice'>> {
  if (!told) return {}
  const notice = await noticeOf(orderId, told.code, told.userPubKey, told.detail)
  await run.report({ outcome: 'failed', notice })
  return { notice }
}
