import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { idleMs } from './idleTime.js'

const CHECK_MS = 10
/** Rest of the event loop, between two checks, that shows room for more. */
const REST_MS = 1
/** Read again at one rest: few enough that what they ask now is answered in time. */
const BATCH_SIZE = 32

export interface BackpressureOptions {
  /** For how long a connection is left unread at most, in milliseconds. */
  readonly maxUnreadMs: number
  /** Connections left unread at once; beyond that, the one that was left first is read again. */
  readonly maxUnread: number
  /** Milliseconds of a clock that only goes on. */
  readonly now?: () => number
  readonly idle?: typeof idleMs
}

export interface Backpressure {
  /** Reads nothing more from the connection for the time being. */
  leaveUnread(socket: Socket): void
  /** Whether what is read from the connection now may have waited for all of `maxUnreadMs`. */
  hasWaitedOut(socket: Socket): boolean
}

/**
 * Leaves connections unread while the process has no rest. What comes in on them meanwhile waits in the kernel, at no cost
 * to the process, until TCP's own flow control stops the sender (RFC 9293, 3.8.6).
 *
 * At each rest the last that were left are read again, as what they ask has waited least; the others when their time is over.
 */
export function createBackpressure(options: BackpressureOptions): Backpressure {
  const { maxUnreadMs, maxUnread, now = performance.now.bind(performance), idle = idleMs } = options
  /** Until when each is left unread, the soonest first. */
  const unread = new Map<Socket, number>()
  const waitedOut = new Set<Socket>()
  let timer: NodeJS.Timeout | undefined
  let idleBefore = 0

  function readAgain(socket: Socket): void {
    unread.delete(socket)
    socket.resume()
  }

  function readWaitedOut(): void {
    const at = now()
    for (const [socket, until] of unread) {
      if (until > at) break
      waitedOut.add(socket)
      readAgain(socket)
    }
    // An immediate runs after this turn's reads, and so what had come in is still seen as such.
    if (waitedOut.size > 0) setImmediate(() => waitedOut.clear())
  }

  function readSomeIfRested(): void {
    const idleNow = idle()
    const hasRested = idleNow - idleBefore >= REST_MS
    idleBefore = idleNow
    if (hasRested) for (const socket of [...unread.keys()].slice(-BATCH_SIZE)) readAgain(socket)
  }

  function check(): void {
    readWaitedOut()
    readSomeIfRested()
    if (unread.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    leaveUnread(socket) {
      if (socket.destroyed) return
      // Also when it is left already: Node may have resumed it for a body.
      socket.pause()
      if (unread.has(socket)) return
      const [first] = unread.keys()
      if (first !== undefined && unread.size >= maxUnread) readAgain(first)
      unread.set(socket, now() + maxUnreadMs)
      if (timer !== undefined) return
      idleBefore = idle()
      timer = setInterval(check, CHECK_MS).unref()
    },
    hasWaitedOut: (socket) => waitedOut.has(socket),
  }
}
