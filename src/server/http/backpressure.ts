import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { idleMs } from './idleTime.js'

const CHECK_MS = 10
/** Rest of the event loop, between two checks, that shows room for more. */
const REST_MS = 1
/** Read again at one rest: few enough that what they ask now is answered in time. */
const BATCH_SIZE = 32

export interface BackpressureOptions {
  /** For how long the connection of an overload's refusal is left unread at most, in milliseconds. */
  readonly maxUnreadMs: number
  /** For how long any connection may be left unread, in milliseconds. */
  readonly maxLimitedMs: number
  /** Connections left unread at once; beyond that, the one that was left first is read again. */
  readonly maxUnread: number
  /** Milliseconds of the monotonic clock. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
}

export interface Backpressure {
  /** Reads nothing more from the connection until the process rests, or `maxUnreadMs` have passed. */
  leaveUnread(socket: Socket): void
  /** Reads nothing more from the connection for that long, rest or none: its client may not ask before. */
  leaveUnreadFor(socket: Socket, ms: number): void
  /** Whether what is read from the connection now may have waited for all of `maxUnreadMs`. */
  hasWaitedOut(socket: Socket): boolean
}

interface Left {
  readonly until: number
  /** A rest of the process ends it sooner. */
  readonly endsAtRest: boolean
}

/**
 * Leaves connections unread. What comes in on them waits in the kernel, at no cost to the process, until TCP's own flow
 * control stops the sender (RFC 9293, 3.8.6).
 *
 * When the process is idle, paused connections resume newest first: their requests waited least. The others resume when
 * their time is over.
 */
export function createBackpressure(options: BackpressureOptions): Backpressure {
  const { maxUnreadMs, maxLimitedMs, maxUnread } = options
  const { now = performance.now.bind(performance), idle = idleMs } = options
  /** In the order in which they were left. */
  const unread = new Map<Socket, Left>()
  const waitedOut = new Set<Socket>()
  let timer: NodeJS.Timeout | undefined
  let idleBefore = 0

  function readAgain(socket: Socket): void {
    unread.delete(socket)
    socket.resume()
  }

  function readWaitedOut(): void {
    const at = now()
    for (const [socket, { until, endsAtRest }] of unread) {
      if (until > at) continue
      if (endsAtRest) waitedOut.add(socket)
      readAgain(socket)
    }
    // An immediate runs after this turn's reads, and so what had come in is still seen as such.
    if (waitedOut.size > 0) setImmediate(() => waitedOut.clear())
  }

  function readSomeIfRested(): void {
    const idleNow = idle()
    const hasRested = idleNow - idleBefore >= REST_MS
    idleBefore = idleNow
    if (!hasRested) return
    const waiting = [...unread].filter(([, { endsAtRest }]) => endsAtRest)
    for (const [socket] of waiting.slice(-BATCH_SIZE)) readAgain(socket)
  }

  function check(): void {
    readWaitedOut()
    readSomeIfRested()
    if (unread.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function leave(socket: Socket, ms: number, endsAtRest: boolean): void {
    if (socket.destroyed) return
    // Also when it is left already: Node may have resumed it for a body.
    socket.pause()
    if (unread.has(socket)) return
    const [first] = unread.keys()
    if (first !== undefined && unread.size >= maxUnread) readAgain(first)
    unread.set(socket, { until: now() + ms, endsAtRest })
    if (timer !== undefined) return
    idleBefore = idle()
    timer = setInterval(check, CHECK_MS).unref()
  }

  return {
    leaveUnread: (socket) => leave(socket, maxUnreadMs, true),
    leaveUnreadFor: (socket, ms) => leave(socket, Math.min(ms, maxLimitedMs), false),
    hasWaitedOut: (socket) => waitedOut.has(socket),
  }
}
