import { isIPv4 } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Problem } from './errors.js'

const MAPPED = '::ffff:'

/** The bytes of an IPv6 address that identify a client: providers assign a /56 to each. */
const IPV6_PREFIX_BYTES = 7

/**
 * The client behind an address: an IPv4 address, or the /56 of an IPv6 one, because one client can send from all of it. An IPv4
 * address written as IPv6 counts as IPv4.
 *
 * @param ip as Express reports it (`req.ip`), behind as many proxies as `TRUST_PROXY` says
 */
export function clientOf(ip: string | undefined): string {
  if (ip === undefined) return ''
  // The kernel writes an IPv4 peer of a socket for both families like this: the common case.
  const mapped = ip.startsWith(MAPPED) ? ip.slice(MAPPED.length) : ''
  if (isIPv4(mapped)) return mapped
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.')
}

/** The bytes of an IPv6 address that identify a site: registries let a provider assign a whole /48 to one (RFC 6177). */
const IPV6_SITE_BYTES = 6
/** Clients' worth of every limit that one site may use. */
const CLIENTS_PER_SITE = 4

/** Whom a limit counts. */
interface Counted {
  readonly key: string
  /** How many clients' worth of the limit it may use. */
  readonly clients: number
}

/** The client (`clientOf`) and, for an IPv6 one, its site, the /48: a limit counts both. */
export function countedOf(client: string): readonly Counted[] {
  const own = { key: client, clients: 1 }
  const bytes = client.split('.')
  if (bytes.length !== IPV6_PREFIX_BYTES) return [own]
  return [own, { key: bytes.slice(0, IPV6_SITE_BYTES).join('.'), clients: CLIENTS_PER_SITE }]
}

const WINDOW_MS = 60_000
/** Clients and sites that are counted at the same time; beyond that, the one that has not asked for longest is forgotten first. */
export const MAX_COUNTED = 50_000
/** What a request takes of its client's rate. A post costs at least the recovery of a signer, some 2 ms, and may cost chain, disk and gas. */
const [READ_COST, POST_COST] = [1, 30]

/**
 * Counts what the requests of each client (`clientOf`) and its site cost in a minute that begins with their first one, and refuses
 * those beyond the limit. Every answer says what is left: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 */
export function limitRate(options: {
  readonly limitPerMinute: number
  /** Gives a request's cost back once it is answered. */
  readonly isFree: (req: Request, res: Response) => boolean
  /** Milliseconds of the monotonic clock. */
  readonly now?: () => number
}): RequestHandler {
  const { limitPerMinute, isFree, now } = options
  const windows = createWindows(now)
  const [ofReads, ofPosts] = [READ_COST, POST_COST].map((cost) =>
    rateLimit({
      windowMs: WINDOW_MS,
      limit: limitPerMinute,
      // Under a low limit a client may still post once a minute.
      store: windows.charging(Math.min(cost, limitPerMinute), limitPerMinute),
      keyGenerator: (_req, res) => res.locals.client,
      skipSuccessfulRequests: true,
      requestWasSuccessful: isFree,
      identifier: 'default',
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      // It warns of what is meant here, such as a key of our own.
      validate: false,
      handler() {
        throw new Problem('rate-limited')
      },
    }),
  )
  return (req, res, next) => (req.method === 'POST' ? ofPosts : ofReads)?.(req, res, next)
}

interface Window {
  used: number
  /** By the same clock as `now`. */
  readonly endsAt: number
}

/** The windows of clients and sites, for limiters that charge different costs to them. */
function createWindows(now = () => performance.now()) {
  const windows = new LRUCache<string, Window>({ max: MAX_COUNTED })

  function add(key: string, cost: number): Window {
    const current = windows.get(key)
    const window =
      current !== undefined && now() < current.endsAt ? current : { used: 0, endsAt: now() + WINDOW_MS }
    window.used = Math.max(0, window.used + cost)
    windows.set(key, window)
    return window
  }

  return {
    charging: (cost: number, limit: number): Store => ({
      increment(client) {
        const own = add(client, cost)
        let { used: totalHits, endsAt } = own
        const site = countedOf(client)[1]
        if (site !== undefined) {
          // What is refused to a client does not count against its neighbours. A site may use several clients' worth.
          const ofSite = add(site.key, own.used <= limit ? cost : 0)
          const share = Math.ceil(ofSite.used / site.clients)
          if (share > totalHits) [totalHits, endsAt] = [share, ofSite.endsAt]
        }
        return { totalHits, resetTime: new Date(Date.now() + endsAt - now()) }
      },
      decrement(client) {
        for (const { key } of countedOf(client)) add(key, -cost)
      },
      resetKey: (client) => void windows.delete(client),
    }),
  }
}
