import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Outcome, WaitReason } from '../../protocol/outcome.js'
import type { ChainPosition, OpenedOrder } from '../escrow/escrowLogs.js'

/**
 * The tracked orders by account, and whose turn it is. Accounts alternate, so one with many orders can't starve the others.
 * Among accounts that were found due between the same two turns, the one with the oldest escrow goes first. One account has one run
 * at a time. Times are in milliseconds of `performance.now()`.
 */
export type OrderQueue = ReturnType<typeof createOrderQueue>

export function createOrderQueue() {
  const orders = new Map<Hex, TrackedOrder>()
  const byAccount = new Map<Hex, TrackedOrder[]>()
  const occupied = new Set<Hex>()
  /** Accounts with a due order, by the number of turns that were over when it was found. */
  const dueSince = new Map<Hex, number>()
  let turns = 0

  function insert(order: TrackedOrder): void {
    const others = byAccount.get(order.account) ?? []
    byAccount.set(
      order.account,
      [...others, order].sort((a, b) => byPosition(a.position, b.position)),
    )
  }

  function remove(order: TrackedOrder): void {
    const others = (byAccount.get(order.account) ?? []).filter((other) => other !== order)
    if (others.length > 0) byAccount.set(order.account, others)
    else byAccount.delete(order.account)
    if (others.length === 0) dueSince.delete(order.account)
  }

  /** The next order to run, if any. */
  function first(now: number): TrackedOrder | undefined {
    let found: { readonly order: TrackedOrder; readonly since: number } | undefined
    for (const [account, own] of byAccount) {
      const isBlocked = occupied.has(account) || own.some(suspends)
      const order = isBlocked ? undefined : nextRunnable(own, now)
      if (order === undefined) {
        dueSince.delete(account)
        continue
      }
      const since = dueSince.get(account) ?? turns
      dueSince.set(account, since)
      const isEarlier =
        found === undefined ||
        since < found.since ||
        (since === found.since && byPosition(order.position, found.order.position) < 0)
      if (isEarlier) found = { order, since }
    }
    return found?.order
  }

  const resting = () => [...orders.values()].filter(({ state, running }) => state === 'OPEN' && !running)

  return {
    get: (orderId: Hex) => orders.get(orderId),
    /** Tracks the order; one whose opening differs from the known one is corrected. */
    track(opened: OpenedOrder): TrackedOrder {
      const known = orders.get(opened.orderId)
      if (known !== undefined) {
        // A reorganization may have moved it, or brought another account's order under the same id.
        remove(known)
        known.account = opened.account
        known.commit = opened.commit
        known.position = opened.position
        insert(known)
        return known
      }
      const order: TrackedOrder = {
        ...opened,
        state: 'OPEN',
        running: false,
        dueAt: null,
        waitsUntil: null,
        reason: 'received',
        failures: 0,
        lastOutcome: null,
        waitsFor: undefined,
        mayBeAtEnclave: false,
        envelopeCame: false,
        cancelCommit: undefined,
        cancelCame: false,
        isRead: false,
        deferred: undefined,
      }
      orders.set(order.orderId, order)
      insert(order)
      return order
    },
    forget(orderId: Hex) {
      const order = orders.get(orderId)
      if (order === undefined) return
      orders.delete(orderId)
      remove(order)
    },
    deferred: () => [...orders.values()].filter(({ deferred }) => deferred !== undefined),
    awaitingEnvelope: () => resting().filter((order) => order.dueAt === null && waitsForEnvelope(order)),
    /** Open orders that wait for the market's opening, and are not due yet. */
    awaitingMarket: (now: number) =>
      resting().filter((order) => !isDue(order, now) && order.waitsFor === 'market-closed'),
    /** Whether `next` would return an order. */
    hasNext: (now: number) => first(now) !== undefined,
    /** The next order to run, if any; its account loses its turn. */
    next(now: number): TrackedOrder | undefined {
      const order = first(now)
      if (order === undefined) return undefined
      turns++
      dueSince.delete(order.account)
      return order
    },
    /** Milliseconds until the next order is due. */
    msUntilDue(now: number): number {
      let least = Number.POSITIVE_INFINITY
      for (const { dueAt } of orders.values()) {
        if (dueAt !== null && dueAt > now) least = Math.min(least, dueAt - now)
      }
      return least
    },
    /** A run of the account is under way: it gets no turn before the run's end. */
    occupy: (account: Hex) => void occupied.add(account),
    release: (account: Hex) => void occupied.delete(account),
    /**
     * How many orders are tracked (the escrow is open, or its end is not yet handled) and due (no permit is free, or it is another order's
     * turn), and how many milliseconds an order has been due at most.
     */
    depth(now: number) {
      const due = [...orders.values()].filter((order) => !order.running && isDue(order, now))
      const longestWaitMs = due.reduce((longest, { dueAt }) => Math.max(longest, now - (dueAt ?? now)), 0)
      return { watched: orders.size, due: due.length, longestWaitMs }
    },
  }
}

/** An order that the scheduler tracks: its escrow is open, or its end is not yet handled. */
export interface TrackedOrder extends OpenedOrder {
  /** These three change when a reorganization brings another opening under the same id. */
  account: Hex
  commit: Hex
  position: ChainPosition
  state: 'OPEN' | 'SETTLED' | 'REFUNDED'
  running: boolean
  /** When it runs next, by the monotonic clock; null for never. */
  dueAt: number | null
  /** The time of the system clock that it waits for, in Unix milliseconds, if it waits for one. */
  waitsUntil: number | null
  reason: TriggerReason
  failures: number
  lastOutcome: Outcome | null
  /** The reason that its last run, which ended as `queued`, gave. */
  waitsFor: WaitReason | undefined
  /** Whether a run may have given it to the enclave, perhaps a run of a server whose database is lost. */
  mayBeAtEnclave: boolean
  /** Its envelope came while it was running. */
  envelopeCame: boolean
  /** The commit of the stored cancel that it runs with. */
  cancelCommit: Hex | undefined
  cancelCame: boolean
  isRead: boolean
  /** Applies the latest change of its escrow, which waits for a record that fails. */
  deferred: (() => Promise<void>) | undefined
}

/** Whether either clock says that its time has come: the system clock may have been wrong when its wait began. */
export function isDue({ dueAt, waitsUntil }: TrackedOrder, now: number): boolean {
  return dueAt !== null && (dueAt <= now || (waitsUntil !== null && waitsUntil <= Date.now()))
}

/** An open order with any other outcome has ended, and its event is still to come. */
function waitsForEnvelope({ lastOutcome }: TrackedOrder): boolean {
  return lastOutcome === null || lastOutcome === 'rejected'
}

/** An order with this many failures in a row no longer holds back the account's later ones. */
const MAX_BLOCKING_FAILURES = 5

export function byPosition(a: ChainPosition, b: ChainPosition): number {
  return a.block - b.block || a.logIndex - b.logIndex
}

/** Whether its account waits, so that its orders keep their order. */
function suspends({ deferred, state }: TrackedOrder): boolean {
  return deferred !== undefined && state !== 'SETTLED'
}

/** Whether all later orders of the account wait for this one. */
function holdsBack(order: TrackedOrder): boolean {
  return order.dueAt !== null && order.failures > 0 && order.failures < MAX_BLOCKING_FAILURES
}

/**
 * The account's next run: its first due order in the order of opening, unless an earlier one has failed and waits for its
 * retry. Neither `placed` nor `queued` without a reason holds an order back; see {@link mayGoBefore}.
 *
 * @param orders of one account, sorted by position, none of them running
 */
export function nextRunnable(orders: readonly TrackedOrder[], now: number): TrackedOrder | undefined {
  const waitsFor = new Set<WaitReason>()
  for (const order of orders) {
    if (isDue(order, now) && mayGoBefore(order, waitsFor)) return order
    if (holdsBack(order)) return undefined
    if (order.dueAt !== null && order.waitsFor !== undefined) waitsFor.add(order.waitsFor)
  }
  return undefined
}

/**
 * An order that no run has given to the enclave goes after waiting ones: those may not be written ahead, and an intent with a later nonce
 * would have them refused. Orders that wait for the market, or for their turn at the broker, are written ahead. The former hold back
 * queued orders only, which are placed in the order of their escrows; the latter none. A cancelled order passes all that wait.
 *
 * @param waitsFor the reasons of earlier orders of its account
 */
function mayGoBefore(order: TrackedOrder, waitsFor: ReadonlySet<WaitReason>): boolean {
  if (order.cancelCommit !== undefined) return true
  if (!order.mayBeAtEnclave) return [...waitsFor].every((reason) => WRITTEN_AHEAD.has(reason))
  const isToBePlaced = order.lastOutcome === 'queued'
  return !isToBePlaced || !(waitsFor.has('market-closed') || waitsFor.has('broker-rate-limit'))
}

const WRITTEN_AHEAD: ReadonlySet<WaitReason> = new Set(['market-closed', 'broker-turn'])

/** A system time in Unix milliseconds, as a time of the monotonic clock, which no change of the system clock moves. */
export function monotonic(unixMs: number): number {
  return performance.now() + unixMs - Date.now()
}
