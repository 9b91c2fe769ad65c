import { computed, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals'
import {
  type AccountHistory,
  adjustedPrices,
  type HistoryEntry,
  type OrderList,
  type OrderSummary,
  ordersOf,
} from '../../src/client/history.js'
import {
  type Client,
  type Hex,
  isSignedOrder,
  type KeptOrder,
  type Notice,
  type OpeningState,
  type OrderStatus,
  type Timeline,
} from '../../src/client/index.js'
import { hasEnded, isNoticeDue } from '../../src/protocol/api.js'
import { NO_ORDERS, type Ordered, type OrderMemory } from '../orders/orderMemory.js'
import type { KeyInUse } from '../orders/portfolioKeys.js'
import { createQuery, following, type Query, type QueryOptions } from '../query.js'

/** An order of this wallet. */
export interface DeskOrder {
  readonly orderId: Hex
  /** The order's content: known to the page that sealed it, and to the portfolio's versions from its admission on. */
  readonly request: Ordered | null
  /** Its content and fill by the portfolio's versions; null until they are read. */
  readonly summary: PricedOrder | null
}

/** Queries of one order. */
export interface OrderQueries {
  readonly status: Query<OrderStatus>
  readonly timeline: Query<Timeline>
  /** The state on the chain of an order that is signed and not known to be open; null for others. */
  readonly opening: Query<OpeningState | null>
  /** The notice of an ended order, or of one that waits for its turn, opened once a key is in use. */
  readonly notice: Query<Notice | null>
}

/** The account's orders. */
export interface Orders {
  readonly history: Query<OrderList>
  /** The sealed orders that this browser keeps. */
  readonly sealed: Query<readonly KeptOrder[]>
  /** The one of this id; undefined if the browser keeps none. */
  keptOf(orderId: Hex): KeptOrder | undefined
  /** The content of orders, as far as this page knows it. */
  readonly memory: Signal<OrderMemory>
  /** Newest first. Orders that are not on the chain yet come before the chain's. */
  readonly listed: ReadonlySignal<readonly DeskOrder[]>
  /** How many of them are shown: the page follows each of these. */
  readonly most: Signal<number>
  /** Those placed by this page that have not ended, as far as it knows. */
  open(): readonly Hex[]
  of(orderId: Hex): OrderQueries
}

interface OrdersDeps {
  readonly client: Pick<
    Client,
    'listOrderStatuses' | 'listOrderTimelines' | 'openNotice' | 'getOpeningState' | 'resumeOrder'
  >
  readonly isSeen: QueryOptions<unknown>['isSeen']
  readonly history: Query<OrderList>
  readonly sealed: Query<readonly KeptOrder[]>
  /** Purchases, sales and withdrawals of the account. */
  readonly trades: Query<AccountHistory>
  /** The content of orders that this device has sealed, once a key is in use. */
  readonly kept: ReadonlySignal<ReadonlyMap<Hex, Ordered>>
  readonly key: ReadonlySignal<KeyInUse | null>
  /** Called with each change of an order that the page follows. */
  readonly onChange: () => void
  /** Called when an order that was seen open has ended. A refund's reason may be due. */
  readonly onMoved: () => void
  /** Called once an order that was seen open has ended: a refund with its reason, if one comes. */
  readonly onEnd: (status: OrderStatus) => void
}

const AGAIN_MS = 4_000
/** The initial number of shown orders. */
const FEW = 5

export function createOrders(deps: OrdersDeps): Orders {
  const { client, isSeen, history, sealed, trades, kept, key, onChange, onMoved, onEnd } = deps
  const memory = signal<OrderMemory>(NO_ORDERS)
  const keptOf = (wanted: Hex) => sealed.value?.find(({ orderId }) => orderId === wanted)
  /** Placed by this page, and those that an earlier visit signed, whose escrow may never have opened. */
  const placed = computed(() => {
    const signed = (sealed.value ?? []).filter(isSignedOrder).map(({ orderId }) => orderId)
    return [...new Set([...memory.value.placed, ...signed])]
  })
  const most = signal(FEW)
  const summaries = computed(() => pricedOrders(trades.value?.entries ?? []))
  const listed = computed(() =>
    listedOf(
      { placed: placed.value, ordered: memory.value.ordered },
      idsIn(history.value),
      summaries.value,
      kept.value,
    ),
  )
  const pollMs = computed(() => orderPace(Math.min(listed.value.length, most.value)))
  const queries = new Map<Hex, OrderQueries>()

  function follow<T>(ask: (options: { signal: AbortSignal; pollMs: number }) => AsyncGenerator<T>): Query<T> {
    const question = following((signal) => ask({ signal, pollMs: pollMs.value }))
    const pace = (_value: T | null, error: unknown) => (error === null ? null : AGAIN_MS)
    return createQuery({ isSeen, question: () => question, pace })
  }
  function create(orderId: Hex): OrderQueries {
    // An order that this page has placed may end before its state is first read.
    let wasOpen = placed.peek().includes(orderId)
    const look = (seen: OrderStatus, isLast: boolean) => {
      onChange()
      if (!hasEnded(seen)) {
        wasOpen = true
        return
      }
      sealed.refresh()
      if (!wasOpen) return
      onMoved()
      if (seen.state === 'REFUNDED' && isNoticeDue(seen) && !isLast) return
      wasOpen = false
      onEnd(seen)
    }
    const status = follow((options) => watched(client.listOrderStatuses(orderId, options), look))
    const isOver = computed(() => status.value !== null && hasEnded(status.value))
    const hasNotice = computed(() => isOver.value || (status.value?.notice ?? null) !== null)
    const notice = createQuery<Notice | null>({
      isSeen,
      question() {
        // A newer key may open a notice that an older one cannot.
        if (key.value === null || !hasNotice.value) return null
        return async () => (status.value === null ? null : client.openNotice(status.value))
      },
      pace: () => null,
    })
    const isUnopened = computed(() => (status.value?.state ?? 'NONE') === 'NONE')
    /** The last state of an opening that can no longer happen; the order is forgotten by then. */
    let over: OpeningState | null = null
    const readOpening = async () => {
      const order = keptOf(orderId)
      if (order === undefined || !isSignedOrder(order)) return over
      const found = await client.getOpeningState(order)
      if (found !== 'expired' && found !== 'taken') return found
      over = found
      await client.resumeOrder(orderId)
      sealed.refresh()
      return found
    }
    const opening = createQuery<OpeningState | null>({
      isSeen,
      question: () => (isUnopened.value ? readOpening : null),
      pace: (found, error) => (error !== null || found === 'usable' ? AGAIN_MS : null),
    })
    return {
      status,
      opening,
      timeline: follow((options) => client.listOrderTimelines(orderId, options)),
      notice,
    }
  }
  return {
    ...{ history, sealed, keptOf, memory, listed, most },
    open: () =>
      memory.peek().placed.filter((orderId) => {
        const status = untracked(() => queries.get(orderId)?.status.value ?? null)
        return status === null || !hasEnded(status)
      }),
    of(orderId) {
      const known = queries.get(orderId) ?? create(orderId)
      queries.set(orderId, known)
      return known
    },
  }
}

async function* watched<T>(
  values: AsyncGenerator<T>,
  look: (value: T, isLast: boolean) => void,
): AsyncGenerator<T> {
  let last: { readonly value: T } | undefined
  for await (const value of values) {
    last = { value }
    look(value, false)
    yield value
  }
  if (last !== undefined) look(last.value, true)
}

function idsIn(listing: OrderList | null): readonly Hex[] {
  return listing?.orders.map(({ orderId }) => orderId) ?? []
}

function listedOf(
  { placed, ordered }: OrderMemory,
  ids: readonly Hex[],
  summaries: ReadonlyMap<Hex, PricedOrder>,
  kept: ReadonlyMap<Hex, Ordered>,
): readonly DeskOrder[] {
  const opened = new Set(ids)
  return [...placed.filter((orderId) => !opened.has(orderId)), ...ids].map((orderId) => {
    const summary = summaries.get(orderId) ?? null
    const request = ordered.get(orderId) ?? requestOf(summary) ?? kept.get(orderId) ?? null
    return { orderId, request, summary }
  })
}

function requestOf(summary: OrderSummary | null): Ordered | null {
  const { side = null, symbol = null, usdc = null, shares = null, limit = null } = summary ?? {}
  if (side === null || symbol === null) return null
  const ordered = { side, symbol, ...(limit && { limit }) }
  if (usdc !== null) return { ...ordered, usdc }
  return shares === null ? null : { ...ordered, shares }
}

const LEAST_MS = 1_500
/** The most orders that an account has open; ended orders are not polled. */
const MOST_OPEN = 20
/**
 * One order's share of polling, for its status and its timeline. All shares together are what one page may take of a server's
 * rate, which its whole office shares.
 */
const SHARE_MS = 250

/** The pause between two polls of one order in milliseconds, for this number of shown orders. */
function orderPace(shown: number): number {
  return Math.max(LEAST_MS, Math.min(shown, MOST_OPEN) * SHARE_MS)
}

/** An order's content and fill. */
export interface PricedOrder extends OrderSummary {
  /** The price of its fill in the shares of today; null without one. */
  readonly adjusted: bigint | null
}

/** The orders of a history, by id. @param entries oldest first */
export function pricedOrders(entries: readonly HistoryEntry[]): ReadonlyMap<Hex, PricedOrder> {
  const fills = new Map<Hex | null, bigint>()
  for (const [at, price] of adjustedPrices(entries).entries()) {
    if (price !== null) fills.set(entries[at]?.orderId ?? null, price)
  }
  const orders = ordersOf(entries).map((order) => ({ ...order, adjusted: fills.get(order.orderId) ?? null }))
  return new Map(orders.map((order) => [order.orderId, order]))
}
