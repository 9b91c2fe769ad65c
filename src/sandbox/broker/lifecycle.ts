import { ONE_SHARE, parseDecimal, SHARE_DECIMALS } from '../../protocol/units.js'
import type { Market } from './market.js'
import type { StandInClock } from './marketClock.js'
import { isLive, liveOrders, remainingQty } from './money.js'
import type { EndStatus, StandInAccount, StandInOrder } from './types.js'

export interface Lifecycle {
  /** Sets an order's behaviour going; while the market is closed it stays `accepted`. */
  begin(account: StandInAccount, order: StandInOrder): void
  /** Fills this share of what is left (all of it by default) at the price of now. */
  fill(account: StandInAccount, order: StandInOrder, fraction?: string): void
  end(order: StandInOrder, status: EndStatus): void
  /** Cancels at its owner's request, after the `cancelDelayMs` of its behaviour, unless it has filled by then. */
  cancel(order: StandInOrder): void
  /** The market has opened: what waited begins. */
  opened(): void
  /** The market has closed: orders for the day that it found open expire. */
  closed(): void
  stop(): void
}

/** Moves orders from `accepted` to their end, and cash and positions with every fill. */
export function createLifecycle(options: {
  readonly accounts: readonly StandInAccount[]
  readonly market: Market
  readonly clock: StandInClock
  readonly now: () => Date
}): Lifecycle {
  const { accounts, market, clock, now } = options
  const timers = new Set<NodeJS.Timeout>()

  /** Now when there is no delay: then the order's next reading shows it. */
  function later(delayMs: number | undefined, act: () => void): void {
    if (!delayMs) {
      act()
      return
    }
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
    }, delayMs)
    timers.add(timer)
  }

  const lifecycle: Lifecycle = {
    begin(account, order) {
      if (!clock.isOpen() || !isLive(order) || order.begun) return
      order.begun = true
      touch(order, 'new', now())
      const { mode, delayMs, fraction } = order.behaviour
      if (mode === 'hold') return
      later(mode === 'immediate' ? 0 : delayMs, () => {
        if (!isLive(order)) return
        // The market closed in between: the order begins anew when it opens.
        if (!clock.isOpen()) order.begun = false
        else if (mode === 'reject') lifecycle.end(order, 'rejected')
        else if (mode === 'expire') {
          if (fraction !== undefined) lifecycle.fill(account, order, fraction)
          lifecycle.end(order, 'expired')
        } else lifecycle.fill(account, order, mode === 'partial' ? (fraction ?? '0.5') : '1')
      })
    },
    fill(account, order, fraction = '1') {
      if (!isLive(order)) return
      const listing = market.listing(order.symbol)
      const price = order.side === 'buy' ? listing.ask : listing.bid
      const wanted = (remainingQty(order, price) * parseDecimal(fraction, SHARE_DECIMALS, 'down')) / ONE_SHARE
      const whole = fraction === '1'
      const qty =
        order.side === 'buy' ? buy(account, order.symbol, wanted, price) : sell(account, order, wanted, price)
      order.filledQty += qty
      order.filledValue += qty * price
      if (order.filledQty === 0n && whole) return lifecycle.end(order, 'rejected')
      if (qty < wanted) return lifecycle.end(order, 'canceled')
      touch(order, whole ? 'filled' : order.filledQty > 0n ? 'partially_filled' : order.status, now())
    },
    end(order, status) {
      if (isLive(order)) touch(order, status, now())
    },
    cancel(order) {
      if (!isLive(order)) return
      touch(order, 'pending_cancel', now())
      later(order.behaviour.cancelDelayMs, () => lifecycle.end(order, 'canceled'))
    },
    opened() {
      for (const account of accounts) for (const order of liveOrders(account)) lifecycle.begin(account, order)
    },
    closed() {
      for (const account of accounts) {
        for (const order of liveOrders(account)) if (order.begun) lifecycle.end(order, 'expired')
      }
    },
    stop() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
  return lifecycle
}

function touch(order: StandInOrder, status: StandInOrder['status'], at: Date): void {
  order.status = status
  order.updatedAt = at
  if (!isLive(order)) order.endedAt = at
}

/** Buys as much of `qty` as the cash pays for, all or nothing; returns the quantity bought. */
function buy(account: StandInAccount, symbol: string, qty: bigint, price: bigint): bigint {
  const cost = qty * price
  if (cost > account.cash || qty === 0n) return 0n
  account.cash -= cost
  const position = account.positions.get(symbol) ?? { qty: 0n, cost: 0n }
  account.positions.set(symbol, { qty: position.qty + qty, cost: position.cost + cost })
  return qty
}

/** Sells `qty`, or what is held when that is less; returns the quantity sold. */
function sell(account: StandInAccount, order: StandInOrder, wanted: bigint, price: bigint): bigint {
  const position = account.positions.get(order.symbol)
  if (!position) return 0n
  const qty = wanted < position.qty ? wanted : position.qty
  account.cash += qty * price
  if (qty === position.qty) account.positions.delete(order.symbol)
  else {
    position.cost -= (position.cost * qty) / position.qty
    position.qty -= qty
  }
  return qty
}
