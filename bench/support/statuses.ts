import { type OrderStatus, orderStatusSchema } from '../../src/protocol/api.js'
import type { Hex } from '../../src/protocol/hex.js'

const AT_ONCE = 32

/** What `GET /orders/:orderId` says of each. */
export async function readStatuses(
  url: string,
  orders: readonly { readonly orderId: Hex }[],
): Promise<OrderStatus[]> {
  const statuses: OrderStatus[] = []
  for (let first = 0; first < orders.length; first += AT_ONCE) {
    const group = orders.slice(first, first + AT_ONCE)
    statuses.push(...(await Promise.all(group.map(({ orderId }) => readStatus(`${url}/orders/${orderId}`)))))
  }
  return statuses
}

async function readStatus(url: string): Promise<OrderStatus> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return orderStatusSchema.parse(await response.json())
}
