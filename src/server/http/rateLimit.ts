import type { RequestHandler } from 'express'
import ipaddr from 'ipaddr.js'
import { createRecentMap } from '../recentMap.js'
import { Problem } from './problems.js'

const WINDOW_SECONDS = 60
/** Clients that are counted at the same time; beyond that, the oldest window is forgotten first. */
const MAX_CLIENTS = 50_000
/** Bytes of an IPv6 address that tell clients apart: providers hand out a /56 to one of them. */
const IPV6_PREFIX_BYTES = 7

interface Window {
  used: number
  /** Unix ms. */
  readonly endsAt: number
}

/**
 * Limits what one client (IPv4 address, IPv6 /56) may ask for in a minute that begins with its first request. Tells it
 * by `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and answers 429 with `Retry-After`.
 *
 * @param now Unix ms
 */
export function clientRateLimit(requestsPerMinute: number, now: () => number = Date.now): RequestHandler {
  const windows = createRecentMap<string, Window>(MAX_CLIENTS)
  const policy = `"default";q=${requestsPerMinute};w=${WINDOW_SECONDS}`

  function windowOf(client: string, at: number): Window {
    const current = windows.get(client)
    if (current !== undefined && at < current.endsAt) return current
    const fresh = { used: 0, endsAt: at + WINDOW_SECONDS * 1_000 }
    windows.set(client, fresh)
    return fresh
  }

  return (req, res, next) => {
    const at = now()
    const window = windowOf(clientOf(req.ip ?? ''), at)
    window.used++
    const remaining = Math.max(0, requestsPerMinute - window.used)
    const secondsLeft = Math.ceil((window.endsAt - at) / 1_000)
    res.setHeader('RateLimit-Policy', policy)
    res.setHeader('RateLimit', `"default";r=${remaining};t=${secondsLeft}`)
    if (window.used > requestsPerMinute) {
      throw new Problem('rate-limited', { headers: { 'Retry-After': String(secondsLeft) } })
    }
    next()
  }
}

/** The addresses that one client can send from; an IPv4 address written as IPv6 counts as what it is. */
function clientOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.')
}
