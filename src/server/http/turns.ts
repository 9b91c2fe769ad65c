import type { RequestHandler } from 'express'
import { clientOf, countedOf } from './rateLimit.js'

/** Requests of one client or site that begin in one turn of the event loop. */
const PER_TURN = 16
/** Those of it that wait for a turn: far more than an office sends at once, and some 50 MB. */
const MAX_WAITING = 10_000

/**
 * Lets each client, or its site, begin some requests in a turn of the event loop; the rest wait for the next turns. So one that
 * pipelines on many connections delays others by its share of a turn, and not by all that it has sent. A connection that sends
 * more than may wait is closed: no answer could be written ahead of those that are due on it.
 */
export function takeTurns(): RequestHandler {
  /** By client or site, the requests that wait, the oldest first. */
  const waiting = new Map<string, (() => unknown)[]>()
  const begun = new Map<string, number>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(endTurn)
  }

  function endTurn(): void {
    isScheduled = false
    begun.clear()
    for (const [key, queue] of waiting) {
      const next = queue.splice(0, PER_TURN)
      begun.set(key, next.length)
      if (queue.length === 0) waiting.delete(key)
      for (const begin of next) begin()
    }
    if (waiting.size > 0) schedule()
  }

  return (req, _res, next) => {
    const key = countedOf(clientOf(req.ip)).at(-1)?.key ?? ''
    const count = begun.get(key) ?? 0
    schedule()
    if (count < PER_TURN) {
      begun.set(key, count + 1)
      next()
      return
    }
    const queue = waiting.get(key) ?? []
    if (queue.length >= MAX_WAITING) {
      req.socket.destroy()
      return
    }
    // A request whose caller has gone by its turn never begins.
    queue.push(() => req.socket.destroyed || next())
    waiting.set(key, queue)
  }
}
