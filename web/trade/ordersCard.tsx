import { Card } from '../parts/card.js'
import { ListState } from '../parts/listState.js'
import { useAccount } from '../state/context.js'
import { NotificationOffer } from './notificationOffer.js'
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
