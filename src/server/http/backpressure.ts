import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { idleMs } from './lateness.js'

const LOOK_MS = 10
/** Rest of the event loop, between two looks, that shows room for more. */
const REST_MS = 1
/** Heard again at one rest: few enough that what they ask now is answered in time. */
const BATCH = 32

export interface BackpressureOptions {
  /** For how long a connection is left unread at most, in milliseconds. */
  readonly maxMs: number
  /** Milliseconds that the event loop has waited for something to do, since the process began. */
  readonly idle?: () => number
}

export interface Backpressure {
  /** Reads nothing more from the connection for the time being. */
  leaveUnread(socket: Socket): void
  /** Whether what is read from the connection now may have waited for all of `maxMs`. */
  isOverdue(socket: Socket): boolean
}

/**
 * Leaves connections unread while the process has no rest. What comes in on them meanwhile waits in the kernel, at no cost
 * to the process, until TCP's own flow control stops the sender (RFC 9293, 3.8.6).
 *
 * At each rest some are heard again, those first that were left last: what they ask has waited least. The others are heard
 * when their time is over.
 */
export function createBackpressure({ maxMs, idle = idleMs }: BackpressureOptions): Backpressure {
  /** Until when each is left unread, the soonest first. */
  const unread = new Map<Socket, number>()
  const overdue = new Set<Socket>()
  let looking: NodeJS.Timeout | undefined
  let idleBefore = 0

  function hear(socket: Socket): void {
    unread.delete(socket)
    socket.resume()
  }

  function hearOverdue(): void {
    const now = performance.now()
    for (const [socket, until] of unread) {
      if (until > now) break
      overdue.add(socket)
      hear(socket)
    }
    // The event loop reads what has come in on them before that.
    if (overdue.size > 0) setImmediate(() => overdue.clear())
  }

  function hearIfRested(): void {
    const idleNow = idle()
    const isRested = idleNow - idleBefore >= REST_MS
    idleBefore = idleNow
    if (isRested) for (const socket of [...unread.keys()].slice(-BATCH)) hear(socket)
  }

  function look(): void {
    hearOverdue()
    hearIfRested()
    if (unread.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  return {
    leaveUnread(socket) {
      if (unread.has(socket)) return
      socket.pause()
      unread.set(socket, performance.now() + maxMs)
      if (looking !== undefined) return
      idleBefore = idle()
      looking = setInterval(look, LOOK_MS).unref()
    },
    isOverdue: (socket) => overdue.has(socket),
  }
}
