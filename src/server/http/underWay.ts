import type { EventEmitter } from 'node:events'
import { countedOf, createShares } from './clients.js'
import type { ProblemCode } from './problemCodes.js'

/** The share of `maxUnderWay` that reads may take: pages that poll while a node or the broker hangs leave room for orders. */
const READ_SHARE = 0.9
/** Time that a body may take to arrive once its headers have. */
export const BODY_TIMEOUT_MS = 10_000
/** Bodies on their way at once. Of more, the oldest of the site that has the most is given up. */
export const MAX_ARRIVING = 1_000

interface Begun {
  /** See `clientOf`. */
  readonly client: string
  readonly isRead: boolean
  /** The request, if it has a body that is still to come. */
  readonly bodyOf: EventEmitter | undefined
  readonly res: EventEmitter
  /** Ends the request, because its body has not arrived. */
  giveUp(): void
}

/**
 * Counts the requests under way: all, and those of one client or site. A request whose body is still to come holds no place, so
 * half-sent ones shut out no one. Limits are checked as headers come, so arriving bodies may exceed them by `MAX_ARRIVING` at most.
 */
export function createUnderWay(options: {
  readonly maxUnderWay: number
  readonly maxUnderWayPerClient: number
}) {
  const { maxUnderWay, maxUnderWayPerClient } = options
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  const shares = createShares(maxUnderWayPerClient, maxUnderWay)
  /** Give up requests whose bodies are still to come, by client or site; the oldest first. */
  const arriving = new Map<string, Set<() => void>>()
  let arrivingCount = 0
  let count = 0

  function acquire({ client, res }: Begun): void {
    const giveBack = shares.acquire(client)
    count++
    res.once('close', () => {
      count--
      giveBack()
    })
  }

  function giveUpOne(): void {
    const [most] = [...arriving.values()].toSorted((a, b) => b.size - a.size)
    const [oldest] = most ?? []
    oldest?.()
  }

  /** Gives a body its time to arrive. */
  function awaitBody(request: Begun, onArrival = () => {}): void {
    const { bodyOf: body } = request
    if (body === undefined) {
      onArrival()
      return
    }
    if (arrivingCount >= MAX_ARRIVING) giveUpOne()
    const key = countedOf(request.client).at(-1)?.key ?? ''
    const ofSite = arriving.get(key) ?? new Set()
    const giveUp = () => {
      stop()
      request.giveUp()
    }
    const arrive = () => {
      stop()
      onArrival()
    }
    const stop = () => {
      clearTimeout(timer)
      body.off('end', arrive)
      if (!ofSite.delete(giveUp)) return
      arrivingCount--
      if (ofSite.size === 0) arriving.delete(key)
    }
    const timer = setTimeout(giveUp, BODY_TIMEOUT_MS).unref()
    arriving.set(key, ofSite.add(giveUp))
    arrivingCount++
    body.once('end', arrive)
    request.res.once('close', stop)
  }

  return {
    /** Acquires a place until the answer is over, from when the body has arrived; or says why there is none. */
    begin(request: Begun): Extract<ProblemCode, 'overloaded' | 'too-many-at-once'> | undefined {
      const { client, isRead } = request
      if (count >= (isRead ? maxForReads : maxUnderWay)) return 'overloaded'
      if (!shares.hasRoom(client)) return 'too-many-at-once'
      awaitBody(request, () => acquire(request))
    },
    awaitBody,
  }
}
