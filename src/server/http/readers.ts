import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import { countedOf, MAX_COUNTED } from './rateLimit.js'

/**
 * Calls of the nodes that one client's reads may cause in a minute, besides a first thousand: an office of 500 that each watch a
 * wallet cause 2,500 with blocks of twelve seconds. More would let anyone use up a provider's plan.
 */
const [CALLS_PER_MINUTE, FIRST_CALLS] = [3_600, 1_000]
const MINUTE_MS = 60_000
const CALL_MS = MINUTE_MS / CALLS_PER_MINUTE
const FIRST_MS = FIRST_CALLS * CALL_MS

/** Whose request is being answered, and what that client's reads have cost the nodes. */
export type ClientReaders = ReturnType<typeof createReaders>

/** @param now milliseconds of the monotonic clock */
export function createReaders(now: () => number = () => performance.now()) {
  const clients = new AsyncLocalStorage<string | undefined>()
  /** When all calls that each has caused are paid at its rate. */
  const paidAt = new LRUCache<string, number>({ max: MAX_COUNTED })

  return {
    current: () => clients.getStore(),
    charge(count: number) {
      const client = clients.getStore()
      if (client === undefined) return
      const at = now()
      for (const { key, clients: worth } of countedOf(client)) {
        const paid = Math.max(at, paidAt.get(key) ?? at) + (count * CALL_MS) / worth
        paidAt.set(key, Math.min(paid, at + FIRST_MS + MINUTE_MS))
      }
    },
    /** Milliseconds until the calls that the client and its site have caused are within their rate again. */
    waitMs(client: string): number {
      const latest = Math.max(...countedOf(client).map(({ key }) => paidAt.get(key) ?? 0))
      return Math.max(0, latest - now() - FIRST_MS)
    },
    /** Answers a request of a client, who is `current` meanwhile. */
    answer: (client: string, answer: () => void) => clients.run(client, answer),
    /** Makes a read that all clients share, at nobody's cost. */
    shared: <T>(read: () => T): T => clients.run(undefined, read),
  }
}
