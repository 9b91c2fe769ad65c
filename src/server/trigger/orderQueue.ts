import type { TriggerReason } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Outcome, WaitReason } from '../../protocol/job.js'
import type { ChainPosition, OpenedOrder } from '../escrow/escrowLogs.js'

/** How many orders there are, and how many of them wait. */
export interface QueueDepth {
  /** Watched over: the escrow is open, or its end is not yet dealt with. */
  readonly watched: number
  /** Of these, due and not running: no permit is free, or it is another order's turn. */
  readonly due: number
  /** Milliseconds that the one that has been due for longest waits; 0 when none does. */
  readonly longestWaitMs: number
}

/**
 * The orders under watch, by account, and whose turn it is. Accounts take turns, so one with many orders can't starve the others; of
 * those that came between the same two turns, the one with the oldest escrow goes first. One account has one run at a time. Every `now` is in
 * milliseconds of `performance.now()`.
 */
export interface OrderQueue {
  get(orderId: Hex): TrackedOrder | undefined
  /** The order as it is tracked: a new one when it was not. One that was opened otherwise than known is corrected. */
  track(opened: OpenedOrder): TrackedOrder
  forget(orderId: Hex): void
  /** Open orders for which nothing is under way and nothing is due. */
  idle(): TrackedOrder[]
  /** Something of the account may have become due. */
  wake(account: Hex): void
  /** Whether `next` would have one. */
  hasNext(now: number): boolean
  /** The next order to run, if any; its account loses its turn. */
  next(now: number): TrackedOrder | undefined
  /** Marks that a run of the account is under way, or no longer. */
  occupy(account: Hex): void
  release(account: Hex): void
  depth(now: number): QueueDepth
}

export function createOrderQueue(): OrderQueue {
  const orders = new Map<Hex, TrackedOrder>()
  const byAccount = new Map<Hex, TrackedOrder[]>()
  /** With the number of turns that were over when it woke. */
  const awake = new Map<Hex, number>()
  let turns = 0
  /** How many runs of an account are under way: a start may find the notes of several. */
  const occupied = new Map<Hex, number>()

  function insert(order: TrackedOrder): void {
    const others = byAccount.get(order.account) ?? []
    byAccount.set(
      order.account,
      [...others, order].sort((a, b) => byPosition(a.position, b.position)),
    )
  }

  function remove(order: TrackedOrder): void {
    const others = (byAccount.get(order.account) ?? []).filter((other) => other !== order)
    if (others.length === 0) byAccount.delete(order.account)
    else byAccount.set(order.account, others)
  }

  /** An occupied account is woken again when its run ends. */
  function firstOf(account: Hex, now: number): TrackedOrder | undefined {
    return occupied.has(account) ? undefined : nextRunnable(byAccount.get(account) ?? [], now)
  }

  function wake(account: Hex): void {
    if (!awake.has(account)) awake.set(account, turns)
  }

  return {
    get: (orderId) => orders.get(orderId),
    track(opened) {
      const known = orders.get(opened.orderId)
      if (known !== undefined) {
        // A reorganisation of the chain may have moved it, and whoever has seen an id may open another order under it.
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
        reason: 'received',
        failures: 0,
        lastOutcome: null,
        waitsFor: undefined,
        mayBeHeld: false,
        envelopeCame: false,
      }
      orders.set(order.orderId, order)
      insert(order)
      return order
    },
    forget(orderId) {
      const order = orders.get(orderId)
      if (order === undefined) return
      orders.delete(orderId)
      remove(order)
    },
    idle: () =>
      [...orders.values()].filter(
        ({ state, running, dueAt }) => state === 'OPEN' && !running && dueAt === null,
      ),
    wake,
    hasNext(now) {
      for (const account of awake.keys()) {
        if (firstOf(account, now) !== undefined) return true
        awake.delete(account)
      }
      return false
    },
    next(now) {
      let first: TrackedOrder | undefined
      let since = turns
      // In the order of waking.
      for (const [account, wokenAt] of awake) {
        if (first !== undefined && wokenAt > since) break
        const order = firstOf(account, now)
        if (order === undefined) awake.delete(account)
        else if (first === undefined || byPosition(order.position, first.position) < 0) {
          first = order
          since = wokenAt
        }
      }
      if (first === undefined) return undefined
      turns++
      awake.delete(first.account)
      return first
    },
    occupy(account) {
      occupied.set(account, (occupied.get(account) ?? 0) + 1)
    },
    release(account) {
      const left = (occupied.get(account) ?? 0) - 1
      if (left > 0) occupied.set(account, left)
      else occupied.delete(account)
      wake(account)
    },
    depth(now) {
      let due = 0
      let longestWaitMs = 0
      for (const { dueAt, running } of orders.values()) {
        if (running || dueAt === null || dueAt > now) continue
        due++
        longestWaitMs = Math.max(longestWaitMs, now - dueAt)
      }
      return { watched: orders.size, due, longestWaitMs }
    },
  }
}

/** An order that the scheduler watches over: its escrow is open, or its end is not yet dealt with. */
export interface TrackedOrder extends OpenedOrder {
  /** These three change when a reorganisation of the chain brings another opening under the same id. */
  account: Hex
  commit: Hex
  position: ChainPosition
  state: 'OPEN' | 'SETTLED' | 'REFUNDED'
  running: boolean
  /**
   * When it runs next, in milliseconds of `performance.now()`; null when nothing is due. By the clock of the day, an order
   * that was due would not be so any more once that clock is set back, and nobody would look at it again.
   */
  dueAt: number | null
  /** Of its next run. */
  reason: TriggerReason
  /** Runs in a row that failed. */
  failures: number
  lastOutcome: Outcome | null
  /**
   * What its last run, which ended as `queued`, said that it waits for.
   */
  waitsFor: WaitReason | undefined
  /** The enclave has been given it, perhaps by a server whose cache is lost: it may hold it. */
  mayBeHeld: boolean
  /** Its envelope came while it was running. */
  envelopeCame: boolean
}

/** After so many failures in a row an order no longer holds back the account's later ones. */
const MAX_BLOCKING_FAILURES = 5

export function byPosition(a: ChainPosition, b: ChainPosition): number {
  return a.block - b.block || a.logIndex - b.logIndex
}

/** Whether all later orders of the account wait for this one. */
function holdsBack(order: TrackedOrder): boolean {
  return order.dueAt !== null && order.failures > 0 && order.failures < MAX_BLOCKING_FAILURES
}

/**
 * The account's next run: its first order in the order of opening that is due, unless one before it has failed and
 * is to be tried again. `placed` holds nothing back, nor does `queued` without a word of what it waits for; see {@link mayGoBefore}.
 *
 * @param orders of one account, sorted by position, none of them running
 * @param now milliseconds of `performance.now()`
 */
export function nextRunnable(orders: readonly TrackedOrder[], now: number): TrackedOrder | undefined {
  const waitsFor = new Set<WaitReason>()
  for (const order of orders) {
    if (order.dueAt !== null && order.dueAt <= now && mayGoBefore(order, waitsFor)) return order
    if (holdsBack(order)) return undefined
    if (order.dueAt !== null && order.waitsFor !== undefined) waitsFor.add(order.waitsFor)
  }
  return undefined
}

/**
 * An order that the enclave has not been given yet comes after those that wait: they may not be written ahead, and an intent with a
 * later nonce would have them refused. One that waits for the market is written ahead, so it holds back only what is queued as well: orders
 * of an account are placed in the order of their escrows.
 *
 * @param waitsFor what earlier orders of its account wait for
 */
function mayGoBefore(order: TrackedOrder, waitsFor: ReadonlySet<WaitReason>): boolean {
  if (!order.mayBeHeld) return waitsFor.size === 0 || (waitsFor.size === 1 && waitsFor.has('market-closed'))
  const isToBePlaced = order.lastOutcome === 'queued'
  return !isToBePlaced || !(waitsFor.has('market-closed') || waitsFor.has('broker-rate-limit'))
}

/** When something is due, in milliseconds: by the system clock, and by the monotonic one (`performance.now()`). */
export interface Due {
  readonly unixMs: number
  readonly steadyMs: number
}

/** As far away by either clock as it is now. */
export function due(unixMs: number): Due {
  return { unixMs, steadyMs: performance.now() + unixMs - Date.now() }
}

/** Milliseconds until either clock says that it is due: early, a run does no harm, but late it may be hours. */
export function waitFor({ unixMs, steadyMs }: Due): number {
  return Math.min(unixMs - Date.now(), steadyMs - performance.now())
}
