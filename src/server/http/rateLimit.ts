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

/** The site of a client (`clientOf`): the /48 of an IPv6 one, or else the client itself. */
export function siteOf(client: string): string {
  const bytes = client.split('.')
  return bytes.length === IPV6_PREFIX_BYTES ? bytes.slice(0, IPV6_SITE_BYTES).join('.') : client
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
/** Clients that are counted at the same time; beyond that, the oldest window is forgotten first. */
const MAX_CLIENTS = 50_000
/** Requests over its rate after which a client is barred until its window ends. A client that obeys Retry-After sends few. */
const MAX_REFUSALS = 100

interface Window {
  used: number
  /** By the same clock as `now`. */
  readonly endsAt: number
}

/** The requests that a client has left. */
export interface Allowance {
  /** The client has asked for more than it may. */
  readonly isExceeded: boolean
  /** Until its next window begins. */
  readonly secondsLeft: number
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly headers: Readonly<Record<string, string>>
}

interface ClientRateLimit {
  /** Counts a request of the client. */
  count(client: string): Allowance
  /** Takes back a request that was counted. */
  giveBack(client: string): void
  /** Whether the client has sent so many requests over its rate that it should not even connect until its window ends. */
  isBarred(client: string): boolean
}

/**
 * Counts each client's requests (`clientOf`) in a minute that begins with its first request.
 *
 * @param now milliseconds of the monotonic clock
 */
export function createClientRateLimit(
  requestsPerMinute: number,
  now: () => number = () => performance.now(),
): ClientRateLimit {
  const windows = new LRUCache<string, Window>({ max: MAX_CLIENTS })
  const policy = `"default";q=${requestsPerMinute};w=${WINDOW_SECONDS}`

  function windowOf(client: string, at: number): Window {
    const current = windows.get(client)
    if (current !== undefined && at < current.endsAt) return current
    const fresh = { used: 0, endsAt: at + WINDOW_SECONDS * 1_000 }
    windows.set(client, fresh)
    return fresh
  }

  function count(client: string): Allowance {
    const at = now()
    const window = windowOf(client, at)
    window.used++
    const remaining = Math.max(0, requestsPerMinute - window.used)
    // A sum of fractions may come to a little more than the window.
    const secondsLeft = Math.min(WINDOW_SECONDS, Math.ceil((window.endsAt - at) / 1_000))
    return {
      isExceeded: window.used > requestsPerMinute,
      secondsLeft,
      headers: { 'RateLimit-Policy': policy, RateLimit: `"default";r=${remaining};t=${secondsLeft}` },
    }
  }

  return {
    count,
    isBarred(client) {
      const window = windows.get(client)
      if (window === undefined || now() >= window.endsAt) return false
      return window.used > requestsPerMinute + MAX_REFUSALS
    },
    giveBack(client) {
      const window = windows.get(client)
      if (window !== undefined && window.used > 0) window.used--
    },
  }
}
