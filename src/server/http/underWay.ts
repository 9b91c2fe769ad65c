import type { EventEmitter } from 'node:events'
import type { ProblemCode } from './problemCodes.js'
import { siteOf } from './rateLimit.js'

/** The share of `maxUnderWay` that reads may take: pages that poll while a node or the broker hangs leave room for orders. */
const READ_SHARE = 0.9
/** Clients' worth of places that one site (an IPv6 /48) may take. */
const CLIENTS_PER_SITE = 4
/** Time that a body may take to arrive once its headers have. */
export const BODY_TIMEOUT_MS = 10_000

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

interface Place {
  readonly client: string
  readonly site: string
  /** Ends the request, and releases the place. */
  giveUp(): void
}

export interface UnderWay {
  /** Takes a place until the answer is over, or says why there is none. */
  begin(request: Begun): Extract<ProblemCode, 'overloaded' | 'too-many-at-once'> | undefined
}

/**
 * Counts the requests under way: all, those of one client, and those of one site.
 *
 * A request whose body is still to come has its place on sufferance. Where places are short, the oldest of these ends first: of the
 * client or the site that is short, or of all. So half-sent requests cannot shut out others, from however many addresses they come.
 */
export function createUnderWay({ maxUnderWay, maxUnderWayPerClient }: UnderWayOptions): UnderWay {
  const maxForReads = Math.ceil(maxUnderWay * READ_SHARE)
  const places = new Set<Place>()
  /** Those whose body is still to come, the oldest first. */
  const waiting = new Set<Place>()
  const ofClient = new Map<string, number>()
  const ofSite = new Map<string, number>()

  function change(counts: Map<string, number>, key: string, by: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + by
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }

  function release(place: Place): void {
    waiting.delete(place)
    if (!places.delete(place)) return
    change(ofClient, place.client, -1)
    change(ofSite, place.site, -1)
  }

  /** @returns whether a place became free */
  function giveUpOldest(isOne: (place: Place) => boolean): boolean {
    for (const place of waiting) {
      if (!isOne(place)) continue
      place.giveUp()
      return true
    }
    return false
  }

  function hasRoom(client: string, site: string, max: number): boolean {
    return (
      ((ofClient.get(client) ?? 0) < maxUnderWayPerClient || giveUpOldest((one) => one.client === client)) &&
      ((ofSite.get(site) ?? 0) < CLIENTS_PER_SITE * maxUnderWayPerClient ||
        giveUpOldest((one) => one.site === site)) &&
      (places.size < max || giveUpOldest(() => true))
    )
  }

  function take(client: string, site: string, { bodyOf, res, giveUp }: Begun): void {
    const place: Place = {
      client,
      site,
      giveUp() {
        clearTimeout(timer)
        release(place)
        giveUp()
      },
    }
    const timer = bodyOf && setTimeout(place.giveUp, BODY_TIMEOUT_MS).unref()
    places.add(place)
    change(ofClient, client, 1)
    change(ofSite, site, 1)
    if (bodyOf !== undefined) {
      waiting.add(place)
      bodyOf.once('end', () => {
        clearTimeout(timer)
        waiting.delete(place)
      })
    }
    res.once('close', () => {
      clearTimeout(timer)
      release(place)
    })
  }

  return {
    begin(request) {
      const { client, isRead } = request
      const site = siteOf(client)
      if (!hasRoom(client, site, isRead ? maxForReads : maxUnderWay)) {
        const isFull = places.size >= (isRead ? maxForReads : maxUnderWay)
        return isFull ? 'overloaded' : 'too-many-at-once'
      }
      take(client, site, request)
    },
  }
}
