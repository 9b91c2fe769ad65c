import { randomUUID } from 'node:crypto'
import { ONE_CENT, ONE_SHARE, parseDecimal, SHARE_DECIMALS } from '../protocol/units.js'
import type { EndStatus } from './controlSchemas.js'
import { bookFill, chargeFees } from './ledger.js'
import type { Market } from './market.js'
import type { StandInClock } from './marketClock.js'
import { isLive, liveOrders, remainingQty, toCash } from './money.js'
import type { LastFill } from './tradeUpdates.js'
import type { StandInAccount, StandInOrder } from './types.js'

/** Moves orders from `accepted` or `pending_new` to their end, and cash and positions with every fill. */
export function createLifecycle(options: {
  readonly accounts: readonly StandInAccount[]
  readonly market: Market
  readonly clock: StandInClock
  readonly now: () => Date
  /** Called when an order reaches a new status; `fill` is its last fill. */
  readonly onStatus: (order: StandInOrder, fill: LastFill | undefined) => void
}) {
  const { accounts, market, clock, now } = options
  const lastFills = new WeakMap<StandInOrder, LastFill>()
  /** Actions without a delay take effect by the order's next read. */
  const later = createLater()

  function touch(order: StandInOrder, status: StandInOrder['status']): void {
    order.status = status
    order.updatedAt = now()
    if (!isLive(order)) order.endedAt = order.updatedAt
    options.onStatus(order, lastFills.get(order))
  }

  /** Ends an order, through its behaviour's intermediate status if it has one. */
  function finish(order: StandInOrder, status: EndStatus | 'filled'): void {
    const { endsThrough, endDelayMs } = order.behaviour
    order.endsAs = status
    if (endsThrough !== undefined) touch(order, endsThrough)
    later.after(endsThrough === undefined ? 0 : endDelayMs, () => settle(order))
  }

  /** Moves an order to its pending end status. */
  function settle(order: StandInOrder): void {
    if (isLive(order) && order.endsAs !== null) touch(order, order.endsAs)
  }

  function act(account: StandInAccount, order: StandInOrder): void {
    const { mode, fraction } = order.behaviour
    if (!isLive(order) || order.endsAs !== null) return
    order.resting = !isMarketable(order) && mode !== 'reject' && mode !== 'expire'
    if (order.resting) return
    if (mode === 'reject') lifecycle.end(order, 'rejected')
    else if (mode === 'expire') {
      if (fraction !== undefined) lifecycle.fill(account, order, fraction)
      if (isLive(order)) finish(order, 'expired')
    } else if (mode === 'replace') {
      if (fraction !== undefined) lifecycle.fill(account, order, fraction)
      if (isLive(order)) replace(account, order)
    } else lifecycle.fill(account, order, mode === 'partial' ? (fraction ?? '0.5') : '1')
  }

  /** A replacement order, with its own ids, continues with the remaining quantity. */
  function replace(account: StandInAccount, order: StandInOrder): void {
    const { delayMs } = order.behaviour
    const left = order.notional === null ? null : toCash(order.notional) - order.filledValue
    const next = newOrder({
      ...order,
      clientOrderId: randomUUID(),
      notional: left === null ? null : (left / toCash(ONE_CENT)) * ONE_CENT,
      qty: order.qty === null ? null : order.qty - order.filledQty,
      createdAt: now(),
      replaces: order.id,
      behaviour: { mode: 'delay', delayMs },
      status: 'new',
    })
    account.orders.set(next.clientOrderId, next)
    order.replacedBy = next.id
    touch(order, 'replaced')
    lifecycle.begin(account, next)
  }

  function isMarketable({ symbol, side, limitPrice }: StandInOrder): boolean {
    if (limitPrice === null) return true
    const { ask, bid } = market.listing(symbol)
    return side === 'buy' ? ask <= limitPrice : bid >= limitPrice
  }

  const lifecycle = {
    /** Starts an order's behaviour; while the market is closed the order stays `accepted`. */
    begin(account: StandInAccount, order: StandInOrder): void {
      if (!clock.isOpen() || !isLive(order) || order.begun) return
      order.begun = true
      const { mode, delayMs, waitsAs } = order.behaviour
      touch(order, waitsAs ?? 'new')
      if (mode !== 'hold') later.after(mode === 'immediate' ? 0 : delayMs, () => act(account, order))
    },
    /** A symbol has a new price: orders whose limit it reaches go on. */
    priced(symbol: string): void {
      for (const account of accounts) {
        for (const order of liveOrders(account))
          if (order.symbol === symbol && order.resting) act(account, order)
      }
    },
    /** Fills this share of the remaining quantity (by default all) at the current price, unless that is beyond the order's limit. */
    fill(account: StandInAccount, order: StandInOrder, fraction = '1'): void {
      if (!isLive(order) || order.endsAs !== null || !isMarketable(order)) return
      const { ask, bid } = market.listing(order.symbol)
      const price = order.side === 'buy' ? ask : bid
      const wanted = (remainingQty(order, price) * parseDecimal(fraction, SHARE_DECIMALS, 'down')) / ONE_SHARE
      const whole = fraction === '1'
      const qty = bookFill(account, order, { wanted, price, at: now() })
      if (qty > 0n) lastFills.set(order, { qty, price })
      if (order.filledQty === 0n && whole) lifecycle.end(order, 'rejected')
      else if (qty < wanted) lifecycle.end(order, 'canceled')
      else if (whole) finish(order, 'filled')
      else touch(order, order.filledQty > 0n ? 'partially_filled' : order.status)
    },
    end(order: StandInOrder, status: EndStatus): void {
      if (isLive(order)) touch(order, status)
    },
    /** Cancels at the owner's request after the behaviour's `cancelDelayMs`, unless the order fills first. */
    cancel(order: StandInOrder): void {
      if (!isCancelable(order)) return
      touch(order, 'pending_cancel')
      order.endsAs = null
      later.after(order.behaviour.cancelDelayMs, () => lifecycle.end(order, 'canceled'))
    },
    /** The market has opened: waiting orders start. */
    opened(): void {
      for (const account of accounts) for (const order of liveOrders(account)) lifecycle.begin(account, order)
    },
    /** The market closes: expires the session's day orders, and charges fees. */
    closed(): void {
      for (const account of accounts) {
        for (const order of liveOrders(account)) {
          settle(order)
          if (order.begun) lifecycle.end(order, 'expired')
        }
        chargeFees(account, now())
      }
    },
    stop: later.stop,
  }
  return lifecycle
}

export type Lifecycle = ReturnType<typeof createLifecycle>

/** A new order without fills. */
export function newOrder(
  order: Omit<
    StandInOrder,
    | 'id'
    | 'updatedAt'
    | 'endedAt'
    | 'replacedBy'
    | 'filledQty'
    | 'filledValue'
    | 'movedCash'
    | 'endsAs'
    | 'begun'
    | 'resting'
  >,
): StandInOrder {
  return {
    ...order,
    id: randomUUID(),
    updatedAt: order.createdAt,
    endedAt: null,
    replacedBy: null,
    filledQty: 0n,
    filledValue: 0n,
    movedCash: 0n,
    endsAs: null,
    begun: false,
    resting: false,
  }
}

/**
 * Alpaca refuses to cancel an order in `pending_replace`. An order past its last fill cannot be cancelled, regardless
 * of its status.
 */
function isCancelable(order: StandInOrder): boolean {
  return isLive(order) && order.status !== 'pending_replace' && order.endsAs !== 'filled'
}

/** Schedules delayed actions, and cancels pending ones when stopped. */
function createLater() {
  const timers = new Set<NodeJS.Timeout>()
  return {
    /** Runs at once without a delay. */
    after(delayMs: number | undefined, act: () => void): void {
      if (!delayMs) {
        act()
        return
      }
      const timer = setTimeout(() => {
        timers.delete(timer)
        act()
      }, delayMs)
      timers.add(timer)
    },
    stop(): void {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
