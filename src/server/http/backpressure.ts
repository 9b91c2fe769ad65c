import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

const CHECK_MS = 10
/** Idle time of the event loop between two checks that shows room for more. */
const REST_MS = 1
/** Connections that resume at one rest: few enough that their requests are answered in time. */
const BATCH_SIZE = 32

interface BackpressureOptions {
  /** The longest pause after an overload's refusal, in milliseconds. */
  readonly maxPauseMs: number
  /** The longest pause of any connection, in milliseconds. */
  readonly maxRatePauseMs: number
  /** The most connections that are paused; beyond that, the one that was paused first resumes. */
  readonly maxPaused: number
  /** Milliseconds of the monotonic clock. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
}

export interface Backpressure {
  /** Stops reading the connection until the process rests, or `maxPauseMs` have passed. */
  pause(socket: Socket): void
  /** Stops reading the connection for that long, even if the process rests: its client may not ask earlier. */
  pauseFor(socket: Socket, ms: number): void
  /** Whether the bytes that are read from the connection now may have waited for all of `maxPauseMs`. */
  hasWaitedOut(socket: Socket): boolean
}

interface Pause {
  readonly until: number
  /** A rest of the process ends it sooner. */
  readonly endsAtRest: boolean
}

/**
 * Stops reading connections. Incoming bytes wait in the kernel, at no cost to the process, until TCP's own flow control
 * stops the sender (RFC 9293, 3.8.6).
 *
 * When the process is idle, paused connections resume newest first: their requests waited least. The others resume when
 * their time is over.
 */
export function createBackpressure(options: BackpressureOptions): Backpressure {
  const { maxPauseMs, maxRatePauseMs, maxPaused } = options
  const { now = performance.now.bind(performance), idle = idleMs } = options
  /** In the order of pausing. */
  const paused = new Map<Socket, Pause>()
  const waitedOut = new Set<Socket>()
  let timer: NodeJS.Timeout | undefined
  let idleBefore = 0

  function resume(socket: Socket): void {
    paused.delete(socket)
    socket.resume()
  }

  function resumeWaitedOut(): void {
    const at = now()
    for (const [socket, { until, endsAtRest }] of paused) {
      if (until > at) continue
      if (endsAtRest) waitedOut.add(socket)
      resume(socket)
    }
    // An immediate runs after this turn's reads, so requests that had come in still count as waited out.
    if (waitedOut.size > 0) setImmediate(() => waitedOut.clear())
  }

  function resumeSomeIfRested(): void {
    const idleNow = idle()
    const hasRested = idleNow - idleBefore >= REST_MS
    idleBefore = idleNow
    if (!hasRested) return
    const waiting = [...paused].filter(([, { endsAtRest }]) => endsAtRest)
    for (const [socket] of waiting.slice(-BATCH_SIZE)) resume(socket)
  }

  function check(): void {
    resumeWaitedOut()
    resumeSomeIfRested()
    if (paused.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function pause(socket: Socket, ms: number, endsAtRest: boolean): void {
    if (socket.destroyed) return
    // Also when it is paused already: Node may have resumed it for a body.
    socket.pause()
    if (paused.has(socket)) return
    const [first] = paused.keys()
    if (first !== undefined && paused.size >= maxPaused) resume(first)
    paused.set(socket, { until: now() + ms, endsAtRest })
    if (timer !== undefined) return
    idleBefore = idle()
    timer = setInterval(check, CHECK_MS).unref()
  }

  return {
    pause: (socket) => pause(socket, maxPauseMs, true),
    pauseFor: (socket, ms) => pause(socket, Math.min(ms, maxRatePauseMs), false),
    hasWaitedOut: (socket) => waitedOut.has(socket),
  }
}

/** How long the event loop must have had no idle time before the process counts as overloaded: one long task is no overload. */
const WITHOUT_REST_MS = 100

interface QueueingDelayOptions {
  /** Longest wait, in milliseconds, before a request's turn. */
  readonly maxWaitMs: number
  /** Milliseconds of the monotonic clock. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
  /** Calls back once all requests that had arrived when this turn of the event loop began are handled. */
  readonly atTurnEnd?: (ended: () => void) => void
}

/**
 * Measures each request's queueing delay when its turn comes.
 *
 * A request that arrives while the event loop is busy waits until the next turn, and in that turn for all that is before
 * it. So its queueing delay is the time that this turn has taken so far, and a burst shows with the first request that waits.
 * The first request of a turn is never late, so that the process always takes up something.
 *
 * @returns whether the request comes too late: its delay exceeds `maxWaitMs`, and the process has had no rest for a while
 */
export function createQueueingDelay(options: QueueingDelayOptions): () => boolean {
  const {
    maxWaitMs,
    now = performance.now.bind(performance),
    idle = idleMs,
    atTurnEnd = setImmediate,
  } = options
  let isInTurn = false
  let turnStartedAt = Number.NEGATIVE_INFINITY
  let busySince = Number.NEGATIVE_INFINITY
  let idleBefore = Number.NEGATIVE_INFINITY

  function endTurn(): void {
    isInTurn = false
    // Work before the next request, such as the answers of node and store, is a part of its delay.
    turnStartedAt = now()
  }

  function startTurn(at: number): void {
    isInTurn = true
    atTurnEnd(endTurn)
    const idleNow = idle()
    if (idleNow > idleBefore) {
      turnStartedAt = at
      busySince = at
    }
    idleBefore = idleNow
  }

  return () => {
    const at = now()
    if (!isInTurn) {
      startTurn(at)
      return false
    }
    return at - turnStartedAt > maxWaitMs && at - busySince > WITHOUT_REST_MS
  }
}

/** Milliseconds that the event loop has waited for something to do, since the process began. */
export function idleMs(): number {
  return performance.eventLoopUtilization().idle
}
