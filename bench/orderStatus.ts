import { openOrders } from './support/openOrders.js'
import { getFigure } from './support/route.js'

/** One account's. */
const ORDERS = 20

export const orderStatus = getFigure({
  name: 'order-status',
  title: 'GET /orders/:orderId',
  route: '/orders/:orderId',
  goal: 0.7,
  notes: [
    'each escrow is read once for each block of the local chain, which makes one every second, and each record when it was written',
  ],
  async paths({ sandbox, server }) {
    const opened = await openOrders(sandbox, ORDERS)
    for (const { body } of opened) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${server.url}/orders`, { method: 'POST', headers, body })
      if (response.status !== 202) throw new Error(`POST /orders answered ${response.status}`)
    }
    return opened.map(({ orderId }) => `/orders/${orderId}`)
  },
})
