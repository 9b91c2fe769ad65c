import type { Notice, OrderStatus } from '../../src/client/index.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Answer } from '../state/query.js'
import { noticeWords, orderTone } from '../words/timeline.js'

interface OrderNoticeProps {
  readonly status: OrderStatus
  readonly opened: Pick<Answer<Notice | null>, 'value' | 'error'>
}

/** The reason of a refund, or the result of a fill: sealed by the enclave, and only this wallet's key opens it. */
export function OrderNotice({ status, opened: { value: notice, error } }: OrderNoticeProps) {
  const isFilled = status.state === 'SETTLED'
  if (status.notice === null) {
    return isFilled ? null : (
      <p class="muted">
        The refund has no readable reason: you reclaimed the order, its envelope could not be trusted, or the
        reason is no longer available.
      </p>
    )
  }
  if (error !== null) return <FailureBox error={error} />
  if (notice === null)
    return (
      <p class="muted">
        {isFilled ? 'The result' : 'The reason'} is sealed to you: open your portfolio to read it.
      </p>
    )
  return (
    <p class={isFilled ? 'box' : `box box-${orderTone(status, null, notice)}`} data-notice={notice.code}>
      {noticeWords(notice)}
    </p>
  )
}
