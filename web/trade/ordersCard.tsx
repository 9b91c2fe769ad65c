import { keptOrder } from '../orders/keptOrders.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { OrderCard } from './orderCard.js'

/** The orders that a click adds: the page polls every shown order. */
const MORE = 10

export function OrdersCard() {
  const { history, listed, most } = useAccount().orders
  // One that this browser keeps may wait for its envelope, or for a decision.
  const shown = listed.value.filter(({ orderId }, index) => index < most.value || keptOrder(orderId) !== null)
  const hidden = listed.value.length - shown.length
  const { error } = history
  const isComplete = history.value?.isComplete ?? false
  return (
    <Card title="Orders">
      <PolledFailure error={error} />
      {isComplete && shown.length === 0 ? (
        <p class="muted">No orders yet. Your orders appear here and update live.</p>
      ) : null}
      <ol class="orders">
        {shown.map((order, index) => (
          <OrderCard key={order.orderId} order={order} startsOpen={index === 0 && order.request !== null} />
        ))}
      </ol>
      {isComplete || error !== null ? null : (
        <p class="muted">
          {shown.length === 0
            ? 'Reading your orders from the chain…'
            : 'Reading earlier ones from the chain…'}
        </p>
      )}
      {hidden > 0 ? (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            most.value += MORE
          }}
        >
          Show {Math.min(hidden, MORE)} earlier
        </button>
      ) : null}
    </Card>
  )
}
