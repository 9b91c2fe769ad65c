import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Readers } from '../../chain/readLane.js'
import { countedOf, MAX_COUNTED } from './rateLimit.js'

/**
 * Calls of the nodes that one client's reads may cause in a minute, besides a first thousand: an office of 500 that each watch a
 * wallet cause 2,500 with blocks of twelve seconds. More would let anyone use up a provider's plan.
 */
const [CALLS_PER_MINUTE, FIRST_CALLS] = [3_600, 1_000]
const MINUTE_MS = 60_000
const CALL_MS = MINUTE_MS / CALLS_PER_MINUTE
const FIRST_MS = FIRST_CALLS * CALL_MS
/** Reads of one client that wait. They hold no place, but memory. */
const MAX_WAITING = 100

/** Whose request is being answered, and what that client's reads have cost the nodes. */
export interface ClientReaders extends Readers {
  /**
   * Answers a request of a client. A read waits, before it begins, until the calls of the client and its site are within their rate
   * again, so that it delays only itself: a value that others wait for, too, is read at once when its read begins.
   * @returns false when too many of the client's reads wait, and this one never begins
   */
  answer(client: string, isRead: boolean, res: ServerResponse, answer: () => void): boolean
  /** Makes a read that all clients share, at nobody's cost. */
  shared<T>(read: () => T): T
}

/** @param now milliseconds of the monotonic clock */
export function createReaders(now: () => number = () => performance.now()): ClientReaders {
  const clients = new AsyncLocalStorage<string | undefined>()
  /** When all calls that each has caused are paid at its rate. */
  const paidAt = new LRUCache<string, number>({ max: MAX_COUNTED })
  /** How many reads of each wait. */
  const waiting = new Map<string, number>()

  function waitOf(client: string): number {
    const latest = Math.max(...countedOf(client).map(({ key }) => paidAt.get(key) ?? 0))
    return Math.max(0, latest - now() - FIRST_MS)
  }

  return {
    current: () => clients.getStore(),
    charge(count) {
      const client = clients.getStore()
      if (client === undefined) return
      const at = now()
      for (const { key, clients: worth } of countedOf(client)) {
        const paid = Math.max(at, paidAt.get(key) ?? at) + (count * CALL_MS) / worth
        paidAt.set(key, Math.min(paid, at + FIRST_MS + MINUTE_MS))
      }
    },
    answer(client, isRead, res, answer) {
      const waitMs = isRead ? waitOf(client) : 0
      if (waitMs === 0) {
        clients.run(client, answer)
        return true
      }
      const count = waiting.get(client) ?? 0
      if (count >= MAX_WAITING) return false
      waiting.set(client, count + 1)
      // One that began meanwhile may have caused further calls.
      const begin = () => {
        const moreMs = waitOf(client)
        if (moreMs > 0) timer = setTimeout(begin, moreMs)
        else {
          res.off('close', end)
          end()
          clients.run(client, answer)
        }
      }
      const end = () => {
        clearTimeout(timer)
        const left = (waiting.get(client) ?? 1) - 1
        if (left === 0) waiting.delete(client)
        else waiting.set(client, left)
      }
      let timer = setTimeout(begin, waitMs)
      res.once('close', end)
      return true
    },
    shared: (read) => clients.run(undefined, read),
  }
}
