import type { Notice, OrderStatus } from '../../src/client/index.js'
import { isNoticeDue } from '../../src/protocol/api.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Answer } from '../query.js'
import { useAccount } from '../state/context.js'
import { noticeWords, orderTone } from '../words/timeline.js'

interface OrderNoticeProps {
  readonly status: OrderStatus
  readonly opened: Pick<Answer<Notice | null>, 'value' | 'error'>
}

/** The reason of a refund, or the result of a fill: sealed by the enclave, and only this wallet's key opens it. */
export function OrderNotice({ status, opened: { value: notice, error } }: OrderNoticeProps) {
  const { key } = useAccount()
  const isFilled = status.state === 'SETTLED'
  if (!isFilled && isNoticeDue(status)) return <p class="muted">The reason has not arrived yet.</p>
  if (status.notice === null) {
    return isFilled ? null : (
      <p class="muted">
        The refund has no readable reason: you reclaimed the order, the platform’s owner ended it, its
        envelope could not be trusted, or the reason is no longer available.
      </p>
    )
  }
  if (error !== null) return <FailureBox error={error} />
  if (notice === null) {
    const what = isFilled ? 'The result' : 'The reason'
    return (
      <p class="muted">
        {key.value === null ? `${what} is sealed to you: open your portfolio to read it.` : 'Opening…'}
      </p>
    )
  }
  return (
    <p class={isFilled ? 'box' : `box box-${orderTone(status, null, notice)}`} data-notice={notice.code}>
      {noticeWords(notice)}
    </p>
  )
}
