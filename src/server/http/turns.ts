import type { RequestHandler } from 'express'
import { noteUse } from '../limitUse.js'
import { countedOf } from './clients.js'

/** Requests that begin in one turn of the event loop: of one client or site, and of all. */
const [PER_TURN, OF_ALL_PER_TURN] = [16, 256]
/** Those that wait for a turn: of one, far more than an office sends at once; and of all, some 150 MB. */
export const [MAX_WAITING, MAX_WAITING_OF_ALL] = [4_000, 8_000]
/** A request with more header fields does not wait: `MAX_HEADER_BYTES` of small ones occupy twenty times their bytes in memory. */
const MAX_WAITING_FIELDS = 100

/**
 * Lets each client, or its site, begin some requests in a turn of the event loop; the rest wait for the next turns. So one that
 * pipelines on many connections delays others by its share of a turn, and not by all that it has sent. A connection that sends
 * more than may wait is closed: no answer could be written ahead of those that are due on it.
 */
export function fairTurns(): RequestHandler {
  /** Requests that wait, the oldest first, keyed by client or site. */
  const waiting = new Map<string, (() => unknown)[]>()
  const begun = new Map<string, number>()
  let [begunOfAll, waitingOfAll] = [0, 0]
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(endTurn)
  }

  function endTurn(): void {
    isScheduled = false
    begun.clear()
    begunOfAll = 0
    // Each once, and where a turn has no room for all, the first ones go behind the others.
    for (let rounds = waiting.size; rounds > 0 && begunOfAll < OF_ALL_PER_TURN; rounds--) {
      const [first] = waiting
      if (first === undefined) break
      const [key, queue] = first
      const next = queue.splice(0, PER_TURN)
      waiting.delete(key)
      if (queue.length > 0) waiting.set(key, queue)
      begun.set(key, next.length)
      begunOfAll += next.length
      waitingOfAll -= next.length
      for (const begin of next) begin()
    }
    if (waiting.size > 0) schedule()
  }

  return (req, res, next) => {
    const key = countedOf(res.locals.client).at(-1)?.key ?? ''
    const count = begun.get(key) ?? 0
    schedule()
    if (count < PER_TURN && begunOfAll < OF_ALL_PER_TURN && !waiting.has(key)) {
      begun.set(key, count + 1)
      begunOfAll++
      next()
      return
    }
    const queue = waiting.get(key) ?? []
    const most = waitingOfAll < MAX_WAITING_OF_ALL ? MAX_WAITING : MAX_WAITING_OF_ALL / waiting.size
    if (queue.length >= most || req.rawHeaders.length > 2 * MAX_WAITING_FIELDS) {
      req.socket.destroy()
      return
    }
    // A request whose caller has gone by its turn never begins.
    waitingOfAll++
    queue.push(() => req.socket.destroyed || next())
    noteUse('turns', queue.length / MAX_WAITING)
    noteUse('all-turns', waitingOfAll / MAX_WAITING_OF_ALL)
    waiting.set(key, queue)
  }
}
