import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Readers } from '../../chain/readLane.js'
import { createClientRateLimit } from './rateLimit.js'

/**
 * Calls of the nodes that one client's reads may cause in a minute, besides a first thousand: an office of 500 that each watch a
 * wallet cause 2,500 with blocks of twelve seconds. More would let anyone use up a provider's plan.
 */
const CALLS_PER_MINUTE = 3_600

/** Whose request is being answered, and what that client's reads have cost the nodes. */
export interface ClientReaders extends Readers {
  /**
   * Answers a request of a client. A read waits, before it begins, until the client's calls are within their rate again, so that it
   * delays only itself: a value that others wait for, too, is read at once when its read begins.
   */
  answer(client: string, isRead: boolean, res: ServerResponse, answer: () => void): void
  /** Makes a read that all clients share, at nobody's cost. */
  shared<T>(read: () => T): T
}

/** @param now milliseconds of the monotonic clock */
export function createReaders(now?: () => number): ClientReaders {
  const clients = new AsyncLocalStorage<string | undefined>()
  const calls = createClientRateLimit(CALLS_PER_MINUTE, now)
  return {
    current: () => clients.getStore(),
    charge(count) {
      const client = clients.getStore()
      if (client !== undefined) calls.ask(client, count)
    },
    answer(client, isRead, res, answer) {
      const pauseMs = isRead ? calls.ask(client, 0).pauseMs : 0
      const begin = () => clients.run(client, answer)
      if (pauseMs === 0) return begin()
      const timer = setTimeout(begin, pauseMs)
      res.once('close', () => clearTimeout(timer))
    },
    shared: (read) => clients.run(undefined, read),
  }
}
