import { useEffect, useState } from 'preact/hooks'
import type { Client, Notice, OrderStatus } from '../../src/client/index.js'
import { FailureBox } from '../parts/failureBox.js'
import { noticeWords } from '../words/timeline.js'

interface OrderNoticeProps {
  readonly client: Client
  readonly status: OrderStatus
  readonly unlocked: boolean
}

/** Why an order was refused: the enclave sealed it, and only this wallet's key opens it. */
export function OrderNotice({ client, status, unlocked }: OrderNoticeProps) {
  const [notice, setNotice] = useState<Notice | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (!unlocked) return
    let ended = false
    client.openNotice(status).then(
      (opened) => ended || setNotice(opened),
      (failure: unknown) => ended || setError(failure),
    )
    return () => {
      ended = true
    }
  }, [client, status, unlocked])
  if (status.notice === null) {
    return <p class="muted">It came back without a reason, or the reason is no longer available.</p>
  }
  if (error !== null) return <FailureBox error={error} />
  if (notice === null)
    return <p class="muted">The reason is sealed to you: open your portfolio to read it.</p>
  return (
    <p class="box box-bad" data-notice={notice.code}>
      {noticeWords(notice)}
    </p>
  )
}
