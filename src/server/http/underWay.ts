import type { EventEmitter } from 'node:events'
import type { ProblemCode } from './problemCodes.js'
import { createShares } from './shares.js'

/** The share of `maxUnderWay` that reads may take: pages that poll while a node or the broker hangs leave room for orders. */
const READ_SHARE = 0.9
/** Time that a body may take to arrive once its headers have. */
export const BODY_TIMEOUT_MS = 10_000
/** Bodies on their way at once. The oldest of more is given up: an honest one arrives before so many others begin. */
export const MAX_ARRIVING = 1_000

interface UnderWayOptions {
  readonly maxUnderWay: number
  readonly maxUnderWayPerClient: number
}

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

export interface UnderWay {
  /** Takes a place until the answer is over, from when the body has arrived; or says why there is none. */
  begin(request: Begun): Extract<ProblemCode, 'overloaded' | 'too-many-at-once'> | undefined
}

/**
 * Counts the requests under way: all, and those of one client or site. A request whose body is still to come holds no place, so
 * half-sent ones shut out no one, from however many addresses they come. There is room for them when their headers come, and they
 * exceed the limits by `MAX_ARRIVING` at most.
 */
export function createUnderWay({ maxUnderWay, maxUnderWayPerClient }: UnderWayOptions): UnderWay {
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  const shares = createShares(maxUnderWayPerClient)
  /** Gives up a request whose body is still to come; the oldest first. */
  const arriving = new Set<() => void>()
  let count = 0

  function take({ client, res }: Begun): void {
    const giveBack = shares.take(client)
    count++
    res.once('close', () => {
      count--
      giveBack()
    })
  }

  function takeOnArrival(request: Begun, body: EventEmitter): void {
    const [oldest] = arriving
    if (arriving.size >= MAX_ARRIVING) oldest?.()
    const giveUp = () => {
      stop()
      request.giveUp()
    }
    const arrive = () => {
      stop()
      take(request)
    }
    const stop = () => {
      clearTimeout(timer)
      arriving.delete(giveUp)
      body.off('end', arrive)
    }
    const timer = setTimeout(giveUp, BODY_TIMEOUT_MS).unref()
    arriving.add(giveUp)
    body.once('end', arrive)
    request.res.once('close', stop)
  }

  return {
    begin(request) {
      const { client, isRead, bodyOf } = request
      if (count >= (isRead ? maxForReads : maxUnderWay)) return 'overloaded'
      if (!shares.hasRoom(client)) return 'too-many-at-once'
      if (bodyOf === undefined) take(request)
      else takeOnArrival(request, bodyOf)
    },
  }
}
