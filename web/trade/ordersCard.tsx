import { Card } from '../parts/card.js'
import { ListState } from '../parts/listState.js'
import { useAccount, useStore } from '../state/context.js'
import { OrderCard } from './orderCard.js'

/** The orders that a click adds: the page polls every shown order. */
const MORE = 10

export function OrdersCard() {
  const { history, keptOf, listed, most } = useAccount().orders
  // One that this browser keeps may wait for its envelope, or for a decision.
  const shown = listed.value.filter(
    ({ orderId }, index) => index < most.value || keptOf(orderId) !== undefined,
  )
  const hidden = listed.value.length - shown.length
  return (
    <Card title="Orders">
      <NotificationOffer />
      <ol class="orders">
        {shown.map((order, index) => (
          <OrderCard key={order.orderId} order={order} startsOpen={index === 0 && order.request !== null} />
        ))}
      </ol>
      <ListState
        what="orders"
        query={history}
        count={listed.value.length}
        none="No orders yet. Your orders appear here and update live."
      />
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

/** Offers notifications once, after the first order of a visit; any answer is remembered. */
function NotificationOffer() {
  const { isUndecided, allow, refuse } = useStore().notifications
  const { placed } = useAccount().orders.memory.value
  if (!isUndecided.value || placed.length === 0) return null
  return (
    <div class="box" data-test="notification-offer">
      <p>Shall your browser tell you when an order ends while this tab is in the background?</p>
      <p class="row">
        <button type="button" class="quiet" onClick={allow}>
          Tell me
        </button>
        <button type="button" class="quiet" onClick={refuse}>
          No
        </button>
      </p>
    </div>
  )
}
