import { isSignedOrder, type OpeningState, type OrderStatus } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import type { DeskOrder } from '../state/orders.js'
import { revertWords } from '../words/contractWords.js'

interface UnopenedProps {
  readonly order: DeskOrder
  readonly status: OrderStatus | null
  /** Why the server has not given the status. */
  readonly error: unknown
  readonly opening: OpeningState | null
}

/** For an order that the wallet has signed and that is not open: why, and what its owner can do. */
export function Unopened({ order, status, error, opening }: UnopenedProps) {
  if (opening === null || opening === 'open' || (status !== null && status.state !== 'NONE')) return null
  if (opening !== 'usable') {
    return (
      <p class="box box-warn" role="status">
        {opening === 'taken'
          ? 'Another wallet has taken this order’s id. No money moved: place it again.'
          : 'This order was not opened before its signature expired. No money moved: place it again.'}
      </p>
    )
  }
  // Until the server has answered, it may be opening the order. One that fails leaves the choice to the owner.
  if (status === null && error === null) return <p class="muted">Asking the server about this order…</p>
  const progress = status?.opening
  if (progress !== undefined && progress.status !== 'failed') {
    return <p class="muted">The platform opens this order for you. Your wallet is done.</p>
  }
  return <Decide order={order} reason={progress?.error ?? null} isFailed={progress !== undefined} />
}

interface DecideProps extends Pick<UnopenedProps, 'order'> {
  readonly reason: NonNullable<OrderStatus['opening']>['error']
  readonly isFailed: boolean
}

/** The signature can still be used: by the platform, or by the wallet itself. */
function Decide({ order, reason, isFailed }: DecideProps) {
  const { client } = useAccount().session
  const { busy, error, run } = useAction()
  const { orders } = useAccount()
  const kept = orders.keptOf(order.orderId)
  if (kept === undefined || !isSignedOrder(kept)) return null
  const decide = (send: () => Promise<unknown>) =>
    run(async () => {
      await send()
      orders.of(order.orderId).opening.refresh()
    })
  const [title, advice] = revertWords(reason)
  return (
    <div class="box box-warn" data-test="unopened">
      <p>
        {isFailed
          ? `The platform could not open this order: ${title}. ${advice}`
          : 'You signed this order, and the platform has not opened it. No money has moved.'}
      </p>
      <p class="muted">Do nothing, and the signature expires within ten minutes.</p>
      <div class="row spaced">
        <button type="button" disabled={busy} onClick={() => decide(() => client.submitOrder(kept))}>
          {busy ? 'Sending…' : 'Send it again'}
        </button>
        <button type="button" disabled={busy} onClick={() => decide(() => client.openOrder(kept))}>
          Pay the network fee myself
        </button>
      </div>
      <FailureBox error={error} />
    </div>
  )
}
