import type { Hex } from '../../../protocol/hex.js'
import { byPosition, nextRunnable, type OpenedOrder, type TrackedOrder } from './trackedOrder.js'

/** How many orders there are, and how many of them wait. */
export interface QueueDepth {
  /** Watched over: the escrow is open, or its end is not yet dealt with. */
  readonly watched: number
  /** Of these, due and not running: no slot is free, or it is another order's turn. */
  readonly due: number
  /** Milliseconds that the one that has been due for longest waits; 0 when none does. */
  readonly longestWaitMs: number
}

/**
 * The orders under watch, by account, and whose turn it is. Accounts take turns, so one with many orders can't starve the others; of
 * those that came between the same two turns, the one with the oldest escrow goes first. One account has one run at a time. Every `now` is in
 * milliseconds of `performance.now()`.
 */
export interface RunQueue {
  get(orderId: Hex): TrackedOrder | undefined
  /** The order as it is tracked: a new one when it was not. One that was opened otherwise than known is corrected. */
  track(opened: OpenedOrder): TrackedOrder
  forget(orderId: Hex): void
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

export function createRunQueue(): RunQueue {
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
