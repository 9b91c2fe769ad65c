// The client behind a request, and what a client and its site have at once or have caused.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestHandler } from 'express'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Hex } from '../../protocol/hex.js'
import { type Limit, noteUse } from '../limitUse.js'
import { Problem } from './errors.js'

/** The bytes of an IPv6 address that identify a client: providers assign a /56 to each. */
const IPV6_PREFIX_BYTES = 7

/**
 * The client behind an address: an IPv4 address, or the /56 of an IPv6 one, because one client can send from all of it. An IPv4
 * address written as IPv6 counts as IPv4.
 *
 * @param ip as Express reports it (`req.ip`), behind as many proxies as `TRUST_PROXY` says
 */
export function clientOf(ip = ''): string {
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join(':')
}

/** The bytes of an IPv6 address that identify a site: registries let a provider assign a whole /48 to one (RFC 6177). */
const IPV6_SITE_BYTES = 6
/** Clients' worth of every limit that one site may use. */
const CLIENTS_PER_SITE = 4

/**
 * The client (`clientOf`) and, for an IPv6 one, its site, the /48: a limit counts both.
 * @returns `clients` says how many clients' worth of the limit each may use
 */
export function countedOf(client: string): readonly { readonly key: string; readonly clients: number }[] {
  const own = { key: client, clients: 1 }
  const bytes = client.includes(':') ? client.split(':') : []
  if (bytes.length !== IPV6_PREFIX_BYTES) return [own]
  return [own, { key: bytes.slice(0, IPV6_SITE_BYTES).join(':'), clients: CLIENTS_PER_SITE }]
}

/** What stands for the client where only one is counted: its site, or itself without one. */
export const siteOf = (client: string): string => countedOf(client).at(-1)?.key ?? client

/** Clients and sites that are counted at the same time; beyond that, the one that has not asked for longest is forgotten first. */
export const MAX_COUNTED = 50_000

/**
 * Counts what clients, and their sites, have at once: connections, or places of requests under way.
 * @param limit the name under which the highest share is noted
 * @param maxPerClient how many one client (`clientOf`) may have
 * @param max how many all may have: a site has half of them at most, or as many as one client
 */
export function createShares(limit: Limit, ofAll: Limit | undefined, maxPerClient: number, max: number) {
  const maxPerSite = Math.max(maxPerClient, Math.floor(max / 2))
  const maxOf = (clients: number) => Math.min(clients * maxPerClient, maxPerSite)
  const counts = new Map<string, number>()
  let all = 0

  function change(client: string, by: 1 | -1): void {
    all += by
    if (ofAll !== undefined) noteUse(ofAll, all / max)
    for (const { key, clients } of countedOf(client)) {
      const count = (counts.get(key) ?? 0) + by
      noteUse(limit, count / maxOf(clients))
      if (count === 0) counts.delete(key)
      else counts.set(key, count)
    }
  }

  return {
    hasRoom: (client: string) =>
      countedOf(client).every(({ key, clients }) => (counts.get(key) ?? 0) < maxOf(clients)),
    /** @returns gives it back; to be called once */
    acquire(client: string): () => void {
      change(client, 1)
      return () => change(client, -1)
    },
  }
}

/** Requests that begin in one turn of the event loop: of one client or site, and of all. */
const [PER_TURN, OF_ALL_PER_TURN] = [16, 256]
/** Those that wait for a turn: of one, far more than an office sends at once; and of all, some 150 MB. */
export const [MAX_WAITING, MAX_WAITING_OF_ALL] = [4_000, 8_000]
/** A request with more header fields does not wait: `MAX_HEADER_BYTES` of small ones occupy twenty times their bytes in memory. */
const MAX_WAITING_FIELDS = 100

/**
 * Lets each client, or its site, begin some requests in a turn of the event loop; the rest wait for the next turns. So one that
 * pipelines on many connections delays others by its share of a turn, and not by all that it has sent. A connection that sends
 * more than may wait is closed: no answer could be written ahead of those that are due on it.
 */
export function fairTurns(): RequestHandler {
  /** Requests that wait, the oldest first, keyed by client or site. */
  const waiting = new Map<string, (() => unknown)[]>()
  const begun = new Map<string, number>()
  let [begunOfAll, waitingOfAll] = [0, 0]
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(endTurn)
  }

  function endTurn(): void {
    isScheduled = false
    begun.clear()
    begunOfAll = 0
    // Each once, and where a turn has no room for all, the first ones go behind the others.
    for (let rounds = waiting.size; rounds > 0 && begunOfAll < OF_ALL_PER_TURN; rounds--) {
      const [first] = waiting
      if (first === undefined) break
      const [key, queue] = first
      const next = queue.splice(0, PER_TURN)
      waiting.delete(key)
      if (queue.length > 0) waiting.set(key, queue)
      begun.set(key, next.length)
      begunOfAll += next.length
      waitingOfAll -= next.length
      for (const begin of next) begin()
    }
    if (waiting.size > 0) schedule()
  }

  return (req, res, next) => {
    const key = siteOf(res.locals.client)
    const count = begun.get(key) ?? 0
    schedule()
    if (count < PER_TURN && begunOfAll < OF_ALL_PER_TURN && !waiting.has(key)) {
      begun.set(key, count + 1)
      begunOfAll++
      next()
      return
    }
    const queue = waiting.get(key) ?? []
    const most = waitingOfAll < MAX_WAITING_OF_ALL ? MAX_WAITING : MAX_WAITING_OF_ALL / waiting.size
    if (queue.length >= most || req.rawHeaders.length > 2 * MAX_WAITING_FIELDS) {
      req.socket.destroy()
      return
    }
    // A request whose caller has gone by its turn never begins.
    waitingOfAll++
    queue.push(() => req.socket.destroyed || next())
    noteUse('turns', queue.length / MAX_WAITING)
    noteUse('all-turns', waitingOfAll / MAX_WAITING_OF_ALL)
    waiting.set(key, queue)
  }
}

/**
 * Calls of the nodes that one client's requests may cause in a minute, besides a first thousand: an office of 500 that each watch a
 * wallet cause 2,500 with blocks of twelve seconds. More would let anyone use up a provider's plan. Each member adds some, because a page
 * that follows an order asks for it 40 times a minute: no stranger can sign for one.
 */
const [CALLS_PER_MINUTE, FIRST_CALLS, CALLS_PER_MEMBER] = [3_600, 1_000, 50]
const MINUTE_MS = 60_000
const FIRST_MS = (FIRST_CALLS / CALLS_PER_MINUTE) * MINUTE_MS

/** The client whose request is being answered, and what its requests have cost the nodes. */
export type ClientReaders = ReturnType<typeof createReaders>

/** @param now milliseconds of the monotonic clock */
export function createReaders(now: () => number = () => performance.now()) {
  const clients = new AsyncLocalStorage<string | undefined>()
  /** When all calls that each has caused are paid at its rate. */
  const paidAt = new LRUCache<string, number>({ max: MAX_COUNTED })
  /** The accounts whose signed orders have come from each. */
  const members = new LRUCache<string, Set<Hex>>({ max: MAX_COUNTED })

  function callMs(key: string, clients: number): number {
    return MINUTE_MS / (CALLS_PER_MINUTE * clients + CALLS_PER_MEMBER * (members.get(key)?.size ?? 0))
  }

  function chargeUpTo(count: number, isRefusedBeyond: boolean): void {
    const client = clients.getStore()
    if (client === undefined) return
    const at = now()
    const most = at + FIRST_MS + MINUTE_MS
    const charged = countedOf(client).map(({ key, clients: worth }) => {
      return { key, paid: Math.max(at, paidAt.get(key) ?? at) + count * callMs(key, worth) }
    })
    if (isRefusedBeyond && charged.some(({ paid }) => paid > most)) throw tooManyCalls(waitMs(client))
    for (const { key, paid } of charged) {
      noteUse('node-calls', (paid - at) / FIRST_MS)
      paidAt.set(key, Math.min(paid, most))
    }
  }

  function waitMs(client: string): number {
    const latest = Math.max(...countedOf(client).map(({ key }) => paidAt.get(key) ?? 0))
    return Math.max(0, latest - now() - FIRST_MS)
  }

  return {
    current: () => clients.getStore(),
    /** The client has posted an order that this account has signed, a member of an admitted institution. */
    noteMember(account: Hex) {
      for (const { key } of countedOf(clients.getStore() ?? '')) {
        const known = members.get(key) ?? new Set()
        members.set(key, known.add(account))
      }
    },
    /** Counts calls of the node. What is more than a minute beyond the rate is forgiven. */
    charge: (count: number) => chargeUpTo(count, false),
    /** The same for long searches, which no other client joins. @throws Problem `rate-limited` where `charge` would forgive */
    chargeOrRefuse: (count: number) => chargeUpTo(count, true),
    /** Milliseconds until the calls that the client and its site have caused are within their rate again. */
    waitMs,
    /** Answers a request of a client, which is `current` until the answer is out. */
    answer: (client: string, answer: () => void) => clients.run(client, answer),
    /** Makes a read that all clients share, at nobody's cost. */
    shared: <T>(read: () => T): T => clients.run(undefined, read),
  }
}

/** @param waitMs until the client's calls are within their rate again */
export function tooManyCalls(waitMs: number): Problem {
  return new Problem('rate-limited', { headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) } })
}
