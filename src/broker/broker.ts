import { getAccount, getPositions } from './account.js'
import { getActivities, getBookedEntries } from './activities.js'
import { type AnnouncementFilter, getAnnouncements } from './announcements.js'
import { createBrokerHttp } from './http.js'
import { type BarFilter, getAsset, getBars, getClock, getSnapshots } from './market.js'
import {
  cancelOrder,
  getLiveOrders,
  getNewestOrders,
  getOrderByClientOrderId,
  getOrders,
  mayFill,
  type OrderFilter,
} from './orders.js'
import { createRateBudget } from './rateBudget.js'

/** How long a call waits for its turn, where nothing else is said. */
const PATIENCE_MS = 10_000

export interface BrokerOptions {
  /** `https://paper-api.alpaca.markets` or the live one. */
  readonly tradingUrl: string
  /** `https://data.alpaca.markets`. */
  readonly dataUrl: string
  readonly keyId: string
  readonly secretKey: string
  /** For each call, from its first byte sent to the last one read; its connection gets five seconds at most. */
  readonly timeoutMs: number
  /** The market data feed; `iex` is the one that every account may read. */
  readonly feed?: string | undefined
  /** How long a call waits for the broker's rate limit before it fails `rate-limited`, with nothing sent. 10 s by default. */
  readonly patienceMs?: number | undefined
}

/**
 * A client of Alpaca's trading and market data API.
 *
 * @example
 * const broker = createBroker({ tradingUrl, dataUrl, keyId, secretKey, timeoutMs: 10_000 })
 * const order = await broker.getOrderByClientOrderId(clientOrderId)
 */
export function createBroker(options: BrokerOptions): Broker {
  return brokerOf(createParts(options))
}

/** The parts of a client of one account. Alpaca counts the requests to its two APIs apart. */
export function createParts(options: BrokerOptions) {
  const { tradingUrl, dataUrl, feed = 'iex', patienceMs = PATIENCE_MS, ...keys } = options
  const tradingBudget = createRateBudget()
  const shared = { ...keys, patienceMs }
  return {
    trading: createBrokerHttp({ ...shared, baseUrl: tradingUrl, budget: tradingBudget }),
    tradingBudget,
    data: createBrokerHttp({ ...shared, baseUrl: dataUrl, budget: createRateBudget() }),
    feed,
  }
}

export type BrokerParts = ReturnType<typeof createParts>

export function brokerOf({ trading, data, feed }: BrokerParts) {
  return {
    getClock: () => getClock(trading),
    /** Symbols that the broker knows nothing of are absent from the map. */
    getSnapshots: (symbols: readonly string[]) => getSnapshots(data, symbols, feed),
    /** The trading of the past, by symbol and the oldest first. A symbol without any is absent from the map. */
    getBars: (filter: BarFilter) => getBars(data, filter, feed),
    /** Null when there is no such asset. */
    getAsset: (symbol: string) => getAsset(trading, symbol),
    /** Null when the account has no such order. */
    getOrderByClientOrderId: (clientOrderId: string) => getOrderByClientOrderId(trading, clientOrderId),
    /** Whether the order may still fill, also where the rest of it cannot be read. */
    mayFill: (clientOrderId: string) => mayFill(trading, clientOrderId),
    /** Every order that was submitted after a time, the oldest first: a call for each 500. */
    getOrders: (filter: OrderFilter) => getOrders(trading, filter),
    /** The orders in a symbol that may still fill. */
    getLiveOrders: (symbol: string) => getLiveOrders(trading, symbol),
    /** The 500 newest orders that were submitted after a time, the newest first; also those whose fills cannot be read. */
    getNewestOrders: (filter: OrderFilter) => getNewestOrders(trading, filter),
    /** @param id the broker's own id of the order */
    cancelOrder: (id: string) => cancelOrder(trading, id),
    getPositions: () => getPositions(trading),
    getAccount: () => getAccount(trading),
    /** Every entry of the account's books after a time, the oldest first: a call for each 100. */
    getActivities: (filter: { readonly after: Date }) => getActivities(trading, filter),
    /** Those that corporate actions have left. */
    getBookedEntries: (filter: { readonly after: Date }) => getBookedEntries(trading, filter),
    /** Corporate actions of some symbols, as far as the broker knows of them: a call for each 1,000. */
    getAnnouncements: (filter: AnnouncementFilter) => getAnnouncements(data, filter),
  }
}

/**
 * One account at Alpaca. Every method makes one call (a replaced order is read to its end) and throws `BrokerError`. Calls keep to the
 * rate limit that the broker's answers state, the most urgent first.
 */
export type Broker = ReturnType<typeof brokerOf>
