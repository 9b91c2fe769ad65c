import { type OrderSummary, ordersOf } from '../../client/index.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import type { Cell } from '../terminal/render.js'
import { HISTORY_OPTIONS_HELP, readHistory, shares, timeOf, usdc } from './historyOutput.js'

export const ordersCommand: Command = {
  name: 'orders',
  summary: "the wallet's orders, with what was ordered and what was filled, from the chain",
  help: `orders [options]

Lists each order, oldest first: side, symbol, amount, filled shares, average price and times. The output is confidential.
With --escrow it needs no server. An order that the enclave refused never entered the portfolio, so its side and symbol are
empty: "status <orderId> --reason" shows the reason.

${HISTORY_OPTIONS_HELP}`,
  usesWallet: true,
  async run(args, context) {
    const { entries, transaction, print } = await readHistory(args, context)
    const orders = ordersOf(entries)
    print({
      head: HEAD,
      rows: orders.map((order) => [...cellsOf(order), transaction(order.endedIn ?? order.openedIn)]),
      json: orders.map(jsonOf),
    })
    return EXIT.done
  },
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
