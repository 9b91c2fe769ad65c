import type { OrderStatus } from '../../src/client/index.js'
import { FailureBox } from '../parts/failureBox.js'
import { noticeWords } from '../words/timeline.js'
import type { OpenedNotice } from './useNotice.js'

interface OrderNoticeProps {
  readonly status: OrderStatus
  readonly opened: OpenedNotice
}

/** Why an order was given back, or what its fill came to: the enclave sealed it, and only this wallet's key opens it. */
export function OrderNotice({ status, opened: { notice, error } }: OrderNoticeProps) {
  const isFilled = status.state === 'SETTLED'
  if (status.notice === null) {
    return isFilled ? null : (
      <p class="muted">
        It came back without a reason to read: you took it back, its envelope could not be trusted, or the
        reason is no longer available.
      </p>
    )
  }
  if (error !== null) return <FailureBox error={error} />
  if (notice === null)
    return (
      <p class="muted">
        {isFilled ? 'What it came to' : 'The reason'} is sealed to you: open your portfolio to read it.
      </p>
    )
  return (
    <p class={isFilled ? 'box' : 'box box-bad'} data-notice={notice.code}>
      {noticeWords(notice)}
    </p>
  )
}
