import { openOrders } from './support/openOrders.js'
import { getFigure } from './support/route.js'

/** One account's. */
const ORDERS = 20

export const orderStatus = getFigure({
  name: 'order-status',
  title: 'GET /orders/:orderId',
  route: '/orders/:orderId',
  goal: null,
  notes: ['each request reads the escrow at the latest block of the local chain, and the record on disk'],
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
