import { useState } from 'preact/hooks'
import type { Client } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { OrderCard } from './orderCard.js'
import { orderPace } from './orderPace.js'
import type { Orders } from './useOrders.js'

interface OrdersCardProps {
  readonly client: Client
  readonly orders: Orders
  readonly unlocked: boolean
  readonly onEnd: () => void
}

/** Shown at first, and more with each wish for more: each that is shown is asked about. */
const [FEW, MORE] = [5, 10]

export function OrdersCard({ client, orders, unlocked, onEnd }: OrdersCardProps) {
  const [most, setMost] = useState(FEW)
  const shown = orders.orders.slice(0, most)
  const hidden = orders.orders.length - shown.length
  return (
    <Card title="Orders">
      <PolledFailure error={orders.error} />
      {orders.complete && shown.length === 0 ? (
        <p class="muted">None yet. What you order appears here, and is followed live.</p>
      ) : null}
      <ol class="orders">
        {shown.map((order, index) => (
          <OrderCard
            key={order.orderId}
            client={client}
            order={order}
            unlocked={unlocked}
            pollMs={orderPace(shown.length)}
            startsOpen={index === 0 && order.request !== null}
            onEnd={onEnd}
          />
        ))}
      </ol>
      {orders.complete || orders.error !== null ? null : (
        <p class="muted">
          {shown.length === 0
            ? 'Reading your orders from the chain…'
            : 'Reading earlier ones from the chain…'}
        </p>
      )}
      {hidden > 0 ? (
        <button type="button" class="quiet" onClick={() => setMost(most + MORE)}>
          Show {Math.min(hidden, MORE)} earlier
        </button>
      ) : null}
    </Card>
  )
}
