import { type OrderSummary, ordersOf } from '../../client/history.js'
import type { Cell } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { addHistoryCommand, shares, timeOf, usdc } from './historyOutput.js'

const ABOUT = `Lists each order, oldest first: side, symbol, amount, filled shares, average price and times. The output is confidential. With --escrow it needs no server. An order that the enclave refused never entered the portfolio, so its side and symbol are empty: "status <orderId> --reason" shows the reason.`

export const addOrders: AddCommand = (root, context) => {
  const summary = "the wallet's orders, with what was ordered and what was filled, from the chain"
  addHistoryCommand(root, context, { name: 'orders', summary, about: ABOUT }, ({ entries, transaction }) => {
    const orders = ordersOf(entries)
    return {
      head: HEAD,
      rows: orders.map((order) => [...cellsOf(order), transaction(order.endedIn ?? order.openedIn)]),
      json: orders.map(jsonOf),
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
  'amount',
  'shares',
  'USDC',
  'price',
  'final',
  'transaction',
]

function cellsOf(order: OrderSummary): Cell[] {
  const { side, symbol, amount } = order
  return [
    timeOf(order.openedAt),
    timeOf(order.endedAt),
    order.orderId,
    order.state,
    side ?? '',
    symbol ?? '',
    (side === 'WITHDRAW' || side === 'DEPOSIT') && symbol !== 'USDC' ? shares(amount) : usdc(amount),
    shares(order.shares),
    usdc(order.value),
    usdc(order.price),
    order.isFinal ? 'yes' : 'no',
  ]
}

/** Amounts as decimal strings in base units, as everywhere in JSON. */
function jsonOf({ amount, escrowed, shares: filled, value, price, ...others }: OrderSummary) {
  const text = (units: bigint | null) => units?.toString() ?? null
  return {
    ...others,
    amount: text(amount),
    escrowed: text(escrowed),
    shares: text(filled),
    value: text(value),
    price: text(price),
  }
}
