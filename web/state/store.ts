import { computed, type ReadonlySignal } from '@preact/signals'
import {
  createPast,
  createReader,
  type Eip1193Provider,
  type Health,
  type HealthChecks,
  type Listings,
  type LogList,
  type MarketBars,
  type MarketClock,
  type MarketView,
  type Past,
  type PastMoves,
  type ReadList,
  type Waiting,
} from '../../src/client/index.js'
import { createPageCalm } from '../calm.js'
import { createQuery, type Query } from '../query.js'
import type { Settings } from '../settings.js'
import { nodeProvider } from '../wallet/node.js'
import { type Account, createAccount } from './account.js'
import { type BrowserState, createBrowserState, createDeviceStore, createNotifier } from './browser.js'
import { createEndNotifications, type EndNotifications } from './endNotifications.js'
import { createToasts, type Toasts } from './toasts.js'
import { createWallets, type Wallets } from './wallets.js'

/** The page's state: signals and queries, which screens read. It lasts as long as the page. */
export interface Store extends BrowserState {
  readonly settings: Settings
  readonly wallets: Wallets
  /** Null without a connected wallet. */
  readonly account: ReadonlySignal<Account | null>
  readonly toasts: Toasts
  /** The ends of orders while the page is hidden. */
  readonly notifications: EndNotifications
  readonly clock: Query<MarketClock>
  readonly market: Query<MarketView>
  /** The prices of the last days. */
  readonly bars: Query<MarketBars>
  readonly health: Query<Health>
  readonly checks: Query<HealthChecks>
  /** Whether there is a way to read the chain: the page's own node if configured, else the wallet's. */
  readonly canRead: ReadonlySignal<boolean>
  /** The contracts' events. */
  readonly events: Query<LogList>
  /** The time of an event's block; null while there is no way to read the chain. */
  readonly blockTime: ReadonlySignal<Past['getBlockTime'] | null>
  /** Matters that wait for the platform's owner. */
  readonly waiting: Query<Judged<Waiting>>
  readonly listings: Query<Judged<Listings>>
  /** The moves of lost wallets' portfolios. */
  readonly moves: Query<PastMoves>
}

type Judged<T> = T & Pick<ReadList, 'isComplete' | 'read' | 'span'>

/** The page polls again by itself, and shows the failure until then. */
const ONCE = { attempts: 1, baseMs: 0, maxMs: 0 }
const TIMEOUT_MS = 8_000
const [CLOCK_MS, AWAY_MS, MARKET_MS, BARS_MS] = [15_000, 3_000, 3_000, 60_000]
const [HEALTH_MS, CHECKS_MS, EVENTS_MS, WAITING_MS] = [5_000, 15_000, 2_000, 5_000]

export function createStore(settings: Settings): Store {
  const { chain, serverUrl } = settings
  const browser = createBrowserState()
  const { isSeen } = browser
  const server = createReader({ serverUrl, timing: ONCE, timeoutMs: TIMEOUT_MS })
  const wallets = createWallets(settings, browser)
  const toasts = createToasts()
  const calm = createPageCalm()
  const device = createDeviceStore()
  const account = computed(() => {
    const session = wallets.session.value
    return session === null
      ? null
      : createAccount({ session, settings, reader: server, isSeen, calm, toasts, device })
  })
  const notifications = createEndNotifications({
    ...{ isSeen, notifier: createNotifier() },
    open: () => account.peek()?.orders.open() ?? [],
    ask: (orderId, signal) => server.getOrder(orderId, { signal }),
  })
  window.addEventListener('focus', () => account.peek()?.orders.history.refresh())

  const own = ownReader(settings)
  const reader = computed(() => {
    const session = wallets.session.value
    return own ?? (session?.chainId === chain.id ? session.provider : null)
  })
  const past = computed(() => {
    const { id: chainId, firstBlock: fromBlock } = chain
    const place = { escrow: settings.pins.escrow, fromBlock, chainId, store: device }
    return reader.value === null ? null : createPast(reader.value, place)
  })
  return {
    ...{ ...browser, settings, wallets, account, toasts, notifications },
    clock: createQuery({
      ...{ isSeen, calm },
      question: () => askClock,
      // Market hours change twice a day, but this poll also shows at the top of the page whether the server answers.
      pace: (_clock, error) => (error === null ? CLOCK_MS : AWAY_MS),
    }),
    market: createQuery({ isSeen, calm, question: () => askMarket, pace: MARKET_MS }),
    bars: createQuery({
      isSeen,
      question: () => askBars,
      pace: (_bars, error) => (error === null ? BARS_MS : AWAY_MS),
    }),
    health: createQuery({ isSeen, calm, question: () => askHealth, pace: HEALTH_MS }),
    checks: createQuery({ isSeen, calm, question: () => askChecks, pace: CHECKS_MS }),
    canRead: computed(() => reader.value !== null),
    events: createQuery({
      isSeen,
      question: () => past.value?.events() ?? null,
      pace: EVENTS_MS,
      aged: (value) => ({ ...value, isComplete: false }),
    }),
    blockTime: computed(() => past.value?.getBlockTime ?? null),
    listings: createQuery({
      isSeen,
      question: () => past.value?.listings() ?? null,
      pace: WAITING_MS,
      aged: (value) => ({ ...value, isComplete: false }),
    }),
    moves: createQuery({
      isSeen,
      question: () => past.value?.moves() ?? null,
      pace: WAITING_MS,
      aged: (value) => ({ ...value, isComplete: false }),
    }),
    waiting: createQuery({
      isSeen,
      question: () => past.value?.waiting() ?? null,
      pace: WAITING_MS,
    }),
  }

  function askClock(aborted: AbortSignal) {
    return server.getMarketClock({ signal: aborted })
  }
  function askMarket(aborted: AbortSignal) {
    return server.getMarket({ signal: aborted })
  }
  function askBars(aborted: AbortSignal) {
    return server.getMarketBars({ signal: aborted })
  }
  function askHealth(aborted: AbortSignal) {
    return server.getHealth({ signal: aborted })
  }
  function askChecks(aborted: AbortSignal) {
    return server.getHealthChecks({ signal: aborted })
  }
}

function ownReader({ chain }: Settings): Eip1193Provider | null {
  return chain.rpcUrl === null ? null : nodeProvider(chain.rpcUrl)
}
