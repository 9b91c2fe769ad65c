// When an order wants its next run. Nothing is stored for it: a delay grows with the time that has passed already.

import type { BrokerClock } from '../../broker/index.js'
import type { RunResult } from '../../protocol/job.js'
import { isToldByNotice, type WaitReason } from '../../protocol/outcome.js'
import type { Run } from '../run.js'

const MIN_QUEUED_S = 5
/** The market may open a moment after its time. */
const AFTER_OPENING_S = 1
const MAX_QUEUED_S = 15 * 60
const MAX_NO_GAS_S = 60 * 60
const MIN_PLACED_S = 2
const DEEPER_S = 10
const MAX_PLACED_S = 60
const MAX_OPPOSED_S = 15
/** The longest session of the market. */
export const SESSION_S = 6.5 * 60 * 60

/** The end of a run whose order does not lie deep enough yet. */
export function deeperLater({ clock }: Pick<Run, 'clock'>): RunResult {
  return { outcome: 'queued', retryAt: clock.seconds() + DEEPER_S }
}

/**
 * Unix seconds at which an order that the broker did not take is tried again: half of the time that it has waited in
 * an open market, between five seconds and fifteen minutes.
 * @param since Unix seconds of the write-ahead
 */
export function retryQueued(now: number, since: number, clock?: BrokerClock): number {
  // Time in the queue overnight must not lengthen the steps in the morning. A short session only makes the first step longer.
  const opened = clock ? clock.nextClose.getTime() / 1_000 - SESSION_S : since
  return now + within(Math.floor((now - Math.max(since, opened)) / 2), MIN_QUEUED_S, MAX_QUEUED_S)
}

/**
 * Unix seconds of the next try of an order that waits for the market. The wait is measured by the broker's clock, which may differ
 * from this machine's.
 */
export function retryClosed(now: number, { nextOpen, timestamp }: BrokerClock): number {
  const untilOpenS = Math.ceil((nextOpen.getTime() - timestamp.getTime()) / 1_000)
  return now + (untilOpenS > 0 ? untilOpenS + AFTER_OPENING_S : MIN_QUEUED_S)
}

/**
 * Unix seconds of the next run of an order that has to wait. The owner may end a pause early, and an operator may raise a quota.
 */
export function retryPostponed(now: number, { code, until }: { code: WaitReason; until: number }): number {
  // The broker's rate budget hands out single times: a rounded time would bring many orders at once.
  if (isToldByNotice(code)) return Math.max(until, now + 1)
  return now + within(until - now, MIN_QUEUED_S, code === 'paused' ? MAX_QUEUED_S : MAX_NO_GAS_S)
}

/** Unix seconds of the next run of an order that an opposite one holds up: it asks nothing of the broker. */
export function retryOpposed(now: number, since: number): number {
  return now + within(Math.floor((now - since) / 4), MIN_PLACED_S, MAX_OPPOSED_S)
}

/** Unix seconds of the next run of a live order: no later than at its deadline. */
export function retryPlaced(now: number, since: number, deadline: number): number {
  const next = now + within(Math.floor((now - since) / 4), MIN_PLACED_S, MAX_PLACED_S)
  return deadline > now ? Math.min(next, deadline) : next
}

function within(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
