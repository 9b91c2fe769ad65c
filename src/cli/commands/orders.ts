import { type OrderSummary, ordersOf } from '../../client/history.js'
import type { Cell } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { addHistoryCommand, limitCells, shares, timeOf, usdc } from './historyOutput.js'

const ABOUT = `Lists each order, oldest first: side, symbol, ordered USDC, limit in USD, shares that were filled or moved, average price and times. The output is confidential. With --escrow it needs no server. An order that the enclave refused never entered the portfolio, so its side and symbol are empty: "status <orderId> --reason" shows the reason.`

export const addOrders: AddCommand = (root, context) => {
  const summary = "the wallet's orders, with what was ordered and what was filled, from the chain"
  addHistoryCommand(root, context, { name: 'orders', summary, about: ABOUT }, ({ entries, transaction }) => {
    const orders = ordersOf(entries)
    return {
      head: HEAD,
      rows: orders.map((order) => [...cellsOf(order), transaction(order.endedIn ?? order.openedIn)]),
      json: orders,
    }
  })
}

const HEAD = [
  'opened',
  'ended',
  'order',
  'state',
  'side',
  'symbol',
  'ordered USDC',
  'limit',
  'time in force',
  'shares',
  'USDC',
  'price',
  'final',
  'transaction',
]

function cellsOf(order: OrderSummary): Cell[] {
  return [
    timeOf(order.openedAt),
    timeOf(order.endedAt),
    order.orderId,
    order.state,
    order.side ?? '',
    order.symbol ?? '',
    usdc(order.usdc),
    ...limitCells(order.limit),
    shares(order.shares),
    usdc(order.value),
    usdc(order.price),
    order.isFinal ? 'yes' : 'no',
  ]
}
