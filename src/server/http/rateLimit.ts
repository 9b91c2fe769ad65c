import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

const MAPPED = '::ffff:'

/** The bytes of an IPv6 address that identify a client: providers assign a /56 to each. */
const IPV6_PREFIX_BYTES = 7

/**
 * The client behind an address: an IPv4 address, or the /56 of an IPv6 one, because one client can send from all of it. An IPv4
 * address written as IPv6 counts as IPv4.
 *
 * @param ip as Express reports it (`req.ip`) and `addressOf` does, behind as many proxies as `TRUST_PROXY` says
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

/**
 * The address that Express reports as `req.ip`, for a request that Express has not seen. It is the connection's own, or the one
 * that the outermost trusted proxy has written into `X-Forwarded-For`.
 *
 * @param proxies how many of them are trusted
 */
export function addressOf(req: IncomingMessage, proxies: number): string | undefined {
  const own = req.socket.remoteAddress
  if (proxies === 0) return own
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse()
  const addresses = [own, ...forwarded.map((address) => address.trim()).filter((address) => address !== '')]
  return addresses[Math.min(proxies, addresses.length - 1)]
}

const WINDOW_SECONDS = 60
/** Clients and sites that are counted at the same time; beyond that, the oldest window is forgotten first. */
const MAX_COUNTED = 50_000

/** What a client may ask for faster than its rate, whatever is spent of it in the end: a share of a minute's, and the least. */
const [BURST_SHARE, LEAST_BURST] = [1 / 6, 1_000]

interface Window {
  used: number
  /** By the same clock as `now`. */
  readonly endsAt: number
}

/** What a client has left. */
export interface Allowance {
  /** The client, or its site, has nothing left. */
  readonly isExceeded: boolean
  /** How long the client should be left unread, because it asks faster than its rate: unchanged answers take CPU, too. */
  readonly pauseMs: number
  /** Until its next window begins. */
  readonly secondsLeft: number
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): what is left once this request has counted. */
  readonly headers: Readonly<Record<string, string>>
}

interface ClientRateLimit {
  /** What the client has left for a request of that cost, which is not spent by this. */
  ask(client: string, cost: number): Allowance
  spend(client: string, cost: number): void
  /** Takes back what was spent. */
  giveBack(client: string, cost: number): void
}

/**
 * Counts what each client (`clientOf`) and its site use in a minute that begins with their first request. As long as something
 * is left, a request may cost more than that.
 *
 * @param now milliseconds of the monotonic clock
 */
export function createClientRateLimit(
  limitPerMinute: number,
  now: () => number = () => performance.now(),
): ClientRateLimit {
  const windows = new LRUCache<string, Window>({ max: MAX_COUNTED })
  /** When all that each has asked for would be paid at its rate. */
  const paidAt = new LRUCache<string, number>({ max: MAX_COUNTED })
  const burst = Math.max(LEAST_BURST, BURST_SHARE * limitPerMinute)
  const policy = `"default";q=${limitPerMinute};w=${WINDOW_SECONDS}`

  function windowOf(key: string, at: number): Window {
    const current = windows.get(key)
    if (current !== undefined && at < current.endsAt) return current
    const fresh = { used: 0, endsAt: at + WINDOW_SECONDS * 1_000 }
    windows.set(key, fresh)
    return fresh
  }

  /** How long until the one that asks is within its burst again: a minute at most. */
  function pace({ key, clients }: Counted, cost: number, at: number): number {
    const unitMs = (WINDOW_SECONDS * 1_000) / (clients * limitPerMinute)
    const burstMs = clients * burst * unitMs
    const paid = Math.max(at, paidAt.get(key) ?? at) + cost * unitMs
    const pauseMs = Math.min(Math.max(0, paid - at - burstMs), WINDOW_SECONDS * 1_000)
    paidAt.set(key, Math.min(paid, at + burstMs + pauseMs))
    return pauseMs
  }

  function ask(client: string, cost: number): Allowance {
    const at = now()
    const counted = countedOf(client)
    const windowsOf = counted.map(({ key, clients }) => {
      const { used, endsAt } = windowOf(key, at)
      return { left: clients * limitPerMinute - used, endsAt }
    })
    const { left, endsAt } = windowsOf.reduce((least, one) => (one.left < least.left ? one : least))
    // A sum of fractions may come to a little more than the window.
    const secondsLeft = Math.min(WINDOW_SECONDS, Math.ceil((endsAt - at) / 1_000))
    const remaining = Math.max(0, left - cost)
    return {
      isExceeded: left <= 0,
      pauseMs: Math.max(...counted.map((one) => pace(one, cost, at))),
      secondsLeft,
      headers: { 'RateLimit-Policy': policy, RateLimit: `"default";r=${remaining};t=${secondsLeft}` },
    }
  }

  function add(client: string, cost: number): void {
    const at = now()
    for (const { key } of countedOf(client)) {
      const window = windowOf(key, at)
      window.used = Math.max(0, window.used + cost)
    }
  }

  return { ask, spend: add, giveBack: (client, cost) => add(client, -cost) }
}
