import { setTimeout as delay } from 'node:timers/promises'
import { createSharedValue } from '../service/waiting.js'
import { type Broker, type BrokerOptions, type BrokerParts, brokerOf, createParts } from './broker.js'
import { BrokerError } from './errors.js'
import { createFollower } from './follower.js'
import { type Asset, type BrokerClock, isBuyable, type Snapshot } from './market.js'
import type { BrokerOrder } from './order.js'
import { type OrderPage, type OrderRequest, pollOrders, postOrder } from './orders.js'
import type { PlacementTurn, Token } from './rateBudget.js'
import { createReadings, type Readings } from './readings.js'
import { createTradeUpdates, streamUrlOf } from './tradeUpdates.js'

/** An asset's record changes rarely, and the broker refuses an order that it does not take any more. One that cannot be bought is asked for sooner. */
const ASSET_MAX_AGE_MS = 15 * 60_000
const UNBUYABLE_MAX_AGE_MS = 60_000
/** A price sizes a sale; its fill has another one. */
const PRICE_MAX_AGE_MS = 5_000
/** They are announced a day before they count. */
const ACTIONS_MAX_AGE_MS = 60_000
const MAX_FILTERS = 100
const MAX_SYMBOLS = 500
/** Ten thousand orders, which a process reads at most: beyond them, it looks each order up. */
const MAX_PAGES = 20
const SUBMITTED_MS = 1_000
/**
 * The last announcements stand in for ones that cannot be read, for a whole session and no night: Alpaca adds what was declared before the
 * market opens or after it closes, mostly days ahead.
 */
const ACTIONS_USABLE_MS = 12 * 3_600_000
/** An outage costs no more requests than this, and holds up no other order. */
const ACTIONS_RETRY_MS = 10_000
/** An unscheduled close is seen after this. */
const CLOCK_MAX_AGE_MS = 60_000
/** An unscheduled opening is seen after this: orders wait for it, and a closed market leaves the rate budget unused. */
const CLOSED_MAX_AGE_MS = 10_000
/** A market that should have opened and has not is asked for no more often than this. */
const CLOSED_MIN_AGE_MS = 250
/** Symbols that are asked for within this are read in one call. */
const GATHER_MS = 10
/** A placement that is neither sent nor released gives its token back after this. */
const HOLD_MS = 30_000

export interface SharedBrokerOptions extends BrokerOptions {
  /** How long the market clock is believed where its next transition is further away. */
  readonly clockMaxAgeMs?: number | undefined
  /** Called when corporate actions cannot be read, with why, and with null once they can be again. */
  readonly onActionsRead?: ((failure: BrokerError | null) => void) | undefined
}

/**
 * One account at Alpaca, for many concurrent orders: a `Broker` whose requests share answers and the rate.
 *
 * @example
 * const placement = await broker.reserve({ orderId, openedAt, withinMs: 10_000 })
 * if (!placement) return { outcome: 'queued', retryAt: broker.defer({ orderId, openedAt }).until, … }
 * const look = await lookAtChain()
 * const placed = await placement.send(request, { beforeSend: () => look.assertYoung() })
 * const order = placed.state === 'live' ? await broker.follow(placed, 5_000) : placed
 */
export function createSharedBroker(options: SharedBrokerOptions) {
  const parts = createParts(options)
  const { trading, tradingBudget } = parts
  const base = brokerOf(parts)
  const follower = createFollower({
    poll: (filter) => pollOrders(trading, filter),
    isStreamLive: () => stream.isLive(),
    isScarce: () => tradingBudget.isScarce(),
    now: () => performance.now(),
  })
  const stream = createTradeUpdates({
    url: streamUrlOf(options.tradingUrl),
    keyId: options.keyId,
    secretKey: options.secretKey,
    onUpdate(...told) {
      readings.announce(...told)
      follower.announce(...told)
    },
  })
  const assets = sharedAssets(base)
  const readings = createReadings({
    lookUp: base.getOrderByClientOrderId,
    newest: newestOrders(parts),
    isStreamLive: stream.isLive,
  })
  return {
    ...base,
    /** Known until its next transition, for a minute at most, or ten seconds while closed; `timestamp` goes on with the time. */
    getClock: sharedClock(base, options.clockMaxAgeMs ?? CLOCK_MAX_AGE_MS),
    /** Known for a quarter of an hour, and until the broker refuses an order of it; for a minute where it cannot be bought. */
    getAsset: assets.get,
    /** Known for a minute, and for twelve hours while they cannot be read again. */
    getAnnouncements: lastingAnnouncements(sharedByFilter(base.getAnnouncements), options.onActionsRead),
    /** Known for a minute. */
    getBookedEntries: sharedByFilter(base.getBookedEntries),
    getBookedEntriesNow: base.getBookedEntries,
    /** One call for all symbols; known for five seconds. */
    getSnapshots: sharedSnapshots(base),
    /**
     * The right to send one order, at its turn: the oldest goes first, by `openedAt`. Null when the turn would come later than `withinMs`,
     * without a wait where that is known before; `defer` says when to ask again.
     *
     * Reserve before everything else that placing needs: an order that has to ask again has then cost nothing. Read the chain after the
     * reservation. Release a placement that is not sent; it lapses after half a minute.
     */
    async reserve({
      withinMs,
      ...turn
    }: PlacementTurn & { readonly withinMs: number }): Promise<Placement | null> {
      stream.start()
      const token = await tradingBudget.take({ purpose: 'place', turn, withinMs })
      return token && placementOf(parts, token, { readings, forgetAsset: assets.forget })
    },
    /**
     * The order with this id; null when the account has none. One that has ended, or a limit order that rests while the stream is live and
     * tells nothing of it, is not asked for again.
     * @param unsentSince of an order that may be sent next, and was not before this time: absence may be known then, or follow from one list
     *   for many orders, as the broker takes an id once. Otherwise a look of its own shows it.
     */
    readOrder: readings.read,
    /** When an order that got no placement should ask again: its place in the line, spread over the next minutes; and how many are ahead. */
    defer(turn: PlacementTurn) {
      const { until, ahead } = tradingBudget.defer(turn)
      return { until: new Date(until), ahead }
    },
    /**
     * The order as it stands at its next known change, in status, quantity or id; as it was given when none is seen within `withinMs`.
     * All callers share one list call. The broker's stream hastens it, and it runs by itself without the stream. An order that the list
     * does not name counts as unchanged.
     * @throws BrokerError `unavailable` with the reason `unreadable` when its standing cannot be read; another BrokerError when
     *   `withinMs` passed and the last poll failed
     */
    follow(order: BrokerOrder, withinMs: number): Promise<BrokerOrder> {
      stream.start()
      return follower.follow(order, withinMs)
    },
    /** Closes the stream, which opens with the first placement or followed order. */
    close: stream.close,
  }
}

export type SharedBroker = ReturnType<typeof createSharedBroker>

function placementOf(
  { trading }: BrokerParts,
  token: Token,
  { readings, forgetAsset }: { readings: Readings; forgetAsset(symbol: string): void },
) {
  let state: 'reserved' | 'used' | 'lapsed' = 'reserved'
  const lapse = setTimeout(() => end('lapsed'), HOLD_MS)
  lapse.unref()
  const end = (next: 'used' | 'lapsed') => {
    clearTimeout(lapse)
    if (state !== 'reserved') return
    state = next
    token.release()
  }
  return {
    /**
     * Sends the order: one `POST`, without a queue, a repetition or a look-up. The time-out runs from the first byte sent.
     *
     * `beforeSend` runs once the connection stands, right before the bytes are written, in the same tick: there the age of what
     * permits the order, and `stopAt`, are checked by a clock that goes on while the process is stopped. If it throws,
     * `send` rejects with the same error and no byte was sent.
     * @throws BrokerError `ambiguous` when any byte may have left without a definite answer; `unavailable` when none has;
     *   `rejected` and the other kinds when the broker refused. After {@link isPossibleDuplicate} the id has to be looked up.
     * @throws RangeError for a size that the broker does not take
     */
    async send(request: OrderRequest, { beforeSend }: { beforeSend(): void }): Promise<BrokerOrder> {
      if (state === 'used') throw new Error('a placement is for one request')
      if (state === 'lapsed') {
        throw new BrokerError('unavailable', { route: 'POST /v2/orders', reason: 'placement-lapsed' })
      }
      clearTimeout(lapse)
      state = 'used'
      let refused: (() => void) | undefined
      try {
        return await postOrder(trading, request, {
          token,
          beforeSend() {
            beforeSend()
            refused = readings.sent(request.clientOrderId)
          },
        })
      } catch (error) {
        if (error instanceof BrokerError && error.kind === 'rejected' && !error.isOpposed)
          forgetAsset(request.symbol)
        if (isUnread(error)) refused?.()
        throw error
      } finally {
        // Where no request came of it.
        token.release()
      }
    },
    /** Whether it may still be sent. */
    isReserved: () => state === 'reserved',
    /** Gives the token back, unless the order was sent. */
    release: (): void => end('used'),
  }
}

export type Placement = ReturnType<typeof placementOf>

/** Whether the broker has refused an order for something else than the order itself: another one may still have its id. */
function isUnread(error: unknown): boolean {
  if (!(error instanceof BrokerError)) return false
  return error.isOpposed || error.kind === 'rate-limited' || error.kind === 'unauthorized'
}

function sharedClock(broker: Broker, maxAgeMs: number): () => Promise<BrokerClock> {
  const ask = remembered(broker.getClock, ({ isOpen, timestamp, nextOpen, nextClose }) => {
    const untilChangeMs = Math.min(nextOpen.getTime(), nextClose.getTime()) - timestamp.getTime()
    if (isOpen) return Math.min(maxAgeMs, untilChangeMs)
    return Math.min(maxAgeMs, CLOSED_MAX_AGE_MS, Math.max(untilChangeMs, CLOSED_MIN_AGE_MS))
  })
  return async () => {
    const { value, answeredAt } = await ask()
    const elapsedMs = performance.now() - answeredAt
    return { ...value, timestamp: new Date(value.timestamp.getTime() + elapsedMs) }
  }
}

/** By symbol: the enclave asks for listed ones alone. */
function sharedAssets(broker: Broker) {
  const assets = new Map<string, () => Promise<{ readonly value: Asset | null }>>()
  return {
    async get(symbol: string): Promise<Asset | null> {
      const ask =
        assets.get(symbol) ??
        remembered(
          () => broker.getAsset(symbol),
          (asset) => (isBuyable(asset) ? ASSET_MAX_AGE_MS : UNBUYABLE_MAX_AGE_MS),
        )
      assets.set(symbol, ask)
      return (await ask()).value
    },
    forget: (symbol: string): void => void assets.delete(symbol),
  }
}

function sharedByFilter<F extends object, T>(load: (filter: F) => Promise<T>): (filter: F) => Promise<T> {
  const known = new Map<string, () => Promise<Known<T>>>()
  return async (filter) => {
    const key = JSON.stringify(filter)
    const ask =
      known.get(key) ??
      remembered(
        () => load(filter),
        () => ACTIONS_MAX_AGE_MS,
      )
    // They name a day, and hardly ever another symbol than the listed ones.
    if (known.size >= MAX_FILTERS) known.clear()
    known.set(key, ask)
    return (await ask()).value
  }
}

type GetAnnouncements = Broker['getAnnouncements']

/** Where the broker does not answer, the newest answer about all of these symbols counts, of whichever days it was. */
function lastingAnnouncements(
  load: GetAnnouncements,
  onRead: SharedBrokerOptions['onActionsRead'] = () => {},
): GetAnnouncements {
  let kept: {
    readonly symbols: readonly string[]
    readonly value: Awaited<ReturnType<GetAnnouncements>>
    readonly ageMs: () => number
  }[] = []
  let failedMs: (() => number) | undefined
  return async (filter) => {
    const { symbols } = filter
    const last = () =>
      kept.find((each) => each.ageMs() < ACTIONS_USABLE_MS && isWithin(symbols, each.symbols))?.value
    const early = failedMs !== undefined && failedMs() < ACTIONS_RETRY_MS ? last() : undefined
    if (early !== undefined) return early
    const ageMs = stopwatch(Date.now)
    try {
      const value = await load(filter)
      const others = kept.filter((each) => !isWithin(each.symbols, symbols))
      kept = [{ symbols, value, ageMs }, ...others].slice(0, MAX_FILTERS)
      if (failedMs !== undefined) onRead(null)
      failedMs = undefined
      return value
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      if (failedMs === undefined) onRead(error)
      failedMs = stopwatch(Date.now)
      const known = last()
      if (known === undefined) throw error
      return known
    }
  }
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  return some.every((symbol) => all.includes(symbol))
}

interface Known<T> {
  readonly value: T
  /** Monotonic ms. */
  readonly answeredAt: number
}

/** The last answer while it is fresh, counted from its question by the stopwatch; else callers share the next one. */
function remembered<T>(load: () => Promise<T>, freshMs: (value: T) => number): () => Promise<Known<T>> {
  const shared = createSharedValue({
    async load() {
      const elapsedMs = stopwatch(Date.now)
      return { value: await load(), answeredAt: performance.now(), elapsedMs }
    },
    freshMs: ({ value, elapsedMs }) => (elapsedMs() < freshMs(value) ? Number.POSITIVE_INFINITY : 0),
  })
  return async () => (await shared.get()).value
}

/** Each page is read once: what comes later is sent by this process, or shows in a send, as the broker takes an id once. */
function newestOrders({ trading }: BrokerParts): (since: Date) => Promise<OrderPage> {
  const orders = new Map<string, BrokerOrder | null>()
  let since: Date | undefined
  let pages = 0
  let reading: Promise<void> | undefined
  async function readOn(): Promise<void> {
    // The list goes by the time of submission, a moment after that of creation.
    const until = since && new Date(since.getTime() + SUBMITTED_MS)
    const page = await pollOrders(trading, { after: new Date(0), until })
    for (const [id, order] of page.orders) if (!orders.has(id)) orders.set(id, order)
    since = page.since
    pages += 1
  }
  return async (wanted) => {
    while (since === undefined || (since > wanted && pages < MAX_PAGES)) {
      reading ??= readOn().finally(() => {
        reading = undefined
      })
      await reading
    }
    return { orders, since }
  }
}

function sharedSnapshots(broker: Broker): Broker['getSnapshots'] {
  const known = new Map<string, { readonly snapshot: Snapshot | undefined; readonly ageMs: () => number }>()
  let gathering: { readonly symbols: Set<string>; readonly answer: Promise<void> } | undefined
  const isYoung = (symbol: string) => (known.get(symbol)?.ageMs() ?? PRICE_MAX_AGE_MS) < PRICE_MAX_AGE_MS
  function gather() {
    if (known.size > MAX_SYMBOLS) known.clear()
    const symbols = new Set(known.keys())
    const answer = delay(GATHER_MS).then(async () => {
      gathering = undefined
      const ageMs = stopwatch(Date.now)
      const found = await broker.getSnapshots([...symbols])
      for (const symbol of symbols) known.set(symbol, { snapshot: found.get(symbol), ageMs })
    })
    return { symbols, answer }
  }
  return async (asked) => {
    if (!asked.every(isYoung)) {
      gathering ??= gather()
      const { symbols, answer } = gathering
      for (const symbol of asked) symbols.add(symbol)
      try {
        await answer
      } catch (error) {
        // A symbol that the broker refuses fails those alone who asked for it.
        const isOthers =
          error instanceof BrokerError && error.kind === 'rejected' && symbols.size > asked.length
        if (!isOthers) throw error
        known.clear()
        return broker.getSnapshots(asked)
      }
    }
    return new Map(
      asked.flatMap((symbol) => {
        const { snapshot } = known.get(symbol) ?? {}
        return snapshot ? [[symbol, snapshot] as const] : []
      }),
    )
  }
}

/**
 * Milliseconds since the call, by whichever clock shows more: the monotonic one stands still while the machine sleeps, and the
 * other one may be set.
 * @param now Unix milliseconds
 */
export function stopwatch(now: () => number): () => number {
  const [unix, monotonic] = [now(), performance.now()]
  return () => Math.max(now() - unix, performance.now() - monotonic)
}
