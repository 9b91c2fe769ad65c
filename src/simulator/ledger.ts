import { randomUUID } from 'node:crypto'
import { ceilFee, exactFee, type Fee } from '../protocol/fees.js'
import { formatDecimal, PRICE_DECIMALS, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import { inCents, remainingQty, shownCash, toCash, toUsdc } from './money.js'
import type { Activity, StandInAccount, StandInOrder } from './types.js'

/**
 * Moves cash, shares and fees for a fill of `wanted` at `price`. A buy fills only if the cash pays for all of it; a
 * sale fills up to the held shares. Returns the quantity filled.
 */
export function bookFill(
  account: StandInAccount,
  order: StandInOrder,
  { wanted, price, at }: { wanted: bigint; price: bigint; at: Date },
): bigint {
  const qty = order.side === 'buy' ? buy(account, order, wanted, price) : sell(account, order, wanted, price)
  if (qty === 0n) return 0n
  order.filledQty += qty
  order.filledValue += qty * price
  order.movedCash += inCents(qty * price, order.side)
  for (const fee of account.fees) accrue(account, fee, order.side, qty, qty * price)
  account.activities.push(fillActivity(order, qty, price, at))
  return qty
}

/** Charges the accrued fees at the close, each rounded up to the cent. */
export function chargeFees(account: StandInAccount, at: Date): void {
  for (const [name, exact] of account.accrued) {
    const amount = ceilFee(exact)
    if (amount === 0n) continue
    account.cash -= toCash(amount)
    account.activities.push(feeActivity(name, amount, at))
  }
  account.accrued.clear()
}

function buy(account: StandInAccount, { symbol }: StandInOrder, qty: bigint, price: bigint): bigint {
  const cost = inCents(qty * price, 'buy')
  if (cost > shownCash(account)) return 0n
  account.cash -= cost
  const position = account.positions.get(symbol) ?? { qty: 0n, cost: 0n }
  if (qty > 0n) {
    account.positions.set(symbol, { qty: position.qty + qty, cost: position.cost + qty * price })
  }
  return qty
}

function sell(account: StandInAccount, { symbol }: StandInOrder, wanted: bigint, price: bigint): bigint {
  const position = account.positions.get(symbol)
  if (!position) return 0n
  const qty = wanted < position.qty ? wanted : position.qty
  account.cash += inCents(qty * price, 'sell')
  if (qty === position.qty) account.positions.delete(symbol)
  else {
    position.cost -= (position.cost * qty) / position.qty
    position.qty -= qty
  }
  return qty
}

function accrue(account: StandInAccount, fee: Fee, side: 'buy' | 'sell', qty: bigint, value: bigint): void {
  if (side === 'buy' && fee.on === 'sale') return
  const owed = exactFee(fee, qty, toUsdc(value))
  account.accrued.set(fee.name, (account.accrued.get(fee.name) ?? 0n) + owed)
}

/** An id in Alpaca's form: `20190524113406977::8efc7b9a-8b2b-4000-9955-d36e7db0df74`. */
function activityId(at: Date): string {
  return `${at.toISOString().replace(/\D/g, '')}::${randomUUID()}`
}

function fillActivity(order: StandInOrder, qty: bigint, price: bigint, at: Date): Activity {
  const left = remainingQty(order, price)
  return {
    activity_type: 'FILL',
    cum_qty: formatDecimal(order.filledQty, SHARE_DECIMALS),
    id: activityId(at),
    leaves_qty: formatDecimal(left, SHARE_DECIMALS),
    price: formatDecimal(price, PRICE_DECIMALS),
    qty: formatDecimal(qty, SHARE_DECIMALS),
    side: order.side,
    symbol: order.symbol,
    transaction_time: at.toISOString(),
    order_id: order.id,
    type: left === 0n ? 'fill' : 'partial_fill',
  }
}

function feeActivity(name: string, amount: bigint, at: Date): Activity {
  return {
    activity_type: 'FEE',
    activity_sub_type: name === 'SEC' ? 'REG' : name,
    id: activityId(at),
    date: at.toISOString().slice(0, 10),
    net_amount: `-${formatDecimal(amount, USDC_DECIMALS)}`,
    description: `${name} fee of ${at.toISOString().slice(0, 10)}`,
    status: 'executed',
  }
}
