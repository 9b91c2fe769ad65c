import { useState } from 'preact/hooks'
import type { OrderStatus } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { timeOfDay } from '../words/format.js'

interface OrderCancelProps {
  readonly status: OrderStatus
  /** The order in words, for screen readers. */
  readonly name: string
}

/** For an open order: cancels it, or says that it is being cancelled. */
export function OrderCancel({ status, name }: OrderCancelProps) {
  const { client } = useAccount().session
  const { busy, error, run } = useAction()
  const [isSent, setSent] = useState(false)
  const { orderId, state, triggers, cancelReceivedAt } = status
  const outcome = triggers.at(-1)?.outcome
  if (state !== 'OPEN' || outcome === 'settled' || outcome === 'refunded') return null
  if (isSent || cancelReceivedAt !== undefined) {
    return (
      <p class="box box-wait" data-test="cancelling">
        {cancelReceivedAt === undefined
          ? 'The server has your cancellation.'
          : `The server received your cancellation at ${timeOfDay(cancelReceivedAt, new Date())}.`}{' '}
        Any unfilled part is refunded; a filled part settles.
      </p>
    )
  }
  const cancel = () =>
    run(async () => {
      await client.cancelOrder(orderId)
      setSent(true)
    })
  return (
    <>
      <button type="button" class="quiet" disabled={busy} onClick={cancel}>
        {busy ? 'Check your wallet: sign twice…' : 'Cancel order'}
        <span class="visually-hidden"> {name}</span>
      </button>
      <FailureBox error={error} />
    </>
  )
}
