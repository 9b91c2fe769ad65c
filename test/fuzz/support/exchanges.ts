import type { Random } from '../../faults/random.js'
import type { Service } from './apiRoutes.js'
import { mutateBytes } from './jsonMutations.js'
import { mutateRequest } from './requestMutations.js'
import { anyRoute, validRequest } from './validRequests.js'
import { type Header, render, type WireRequest, withHeader } from './wire.js'
import type { World } from './world.js'

/** One piece of work on a connection, before the next. */
export interface Exchange {
  readonly to: Service
  readonly kind: ExchangeKind
  readonly requests: readonly WireRequest[]
  /** The bytes, sent in pieces one after the other. */
  readonly pieces: readonly Buffer[]
  /**
   * `answer`: an answer to each request. `end`: the connection is new, the caller says that no more comes and reads what
   * there is. `leave`: the connection is new, and the caller is gone as soon as all is sent. `wait`: as `end`, but the
   * caller leaves it to the server to end the connection.
   */
  readonly ending: 'answer' | 'end' | 'leave' | 'wait'
}

export type ExchangeKind =
  | 'valid'
  | 'mutated'
  | 'pipelined'
  | 'split'
  | 'framing'
  | 'bytes'
  | 'half'
  | 'stalled'

/** In a thousand. What stalls holds its connection for seconds. */
const SHARES: readonly (readonly [ExchangeKind, number])[] = [
  ['valid', 250],
  ['mutated', 470],
  ['pipelined', 90],
  ['split', 50],
  ['framing', 40],
  ['bytes', 70],
  ['half', 29],
  ['stalled', 1],
]

const TO_THE_ENCLAVE = 0.05

/** The next exchange of a sequence that depends on the seed alone. */
export function nextExchange(random: Random, world: World): Exchange {
  const to = random.chance(TO_THE_ENCLAVE) ? 'enclave' : 'server'
  return { to, ...exchangeWith(to, random, world) }
}

function exchangeWith(to: Service, random: Random, world: World): Omit<Exchange, 'to'> {
  const kind = anyKind(random)
  switch (kind) {
    case 'valid':
      return whole(kind, [valid(random, world, to)])
    case 'mutated':
      return whole(kind, [mutated(random, world, to)])
    case 'pipelined':
      return whole(kind, pipeline(random, world, to))
    case 'split': {
      const exchange = whole(kind, [any(random, world, to)])
      return { ...exchange, pieces: exchange.pieces.flatMap((bytes) => split(bytes, random)) }
    }
    case 'framing':
      return { kind, requests: [], pieces: [misframed(random, world, to)], ending: 'end' }
    case 'bytes':
      return { kind, requests: [], pieces: [damaged(random, world, to)], ending: 'end' }
    default: {
      const bytes = render(withoutHead(any(random, world, to)))
      const part = bytes.subarray(0, random.integer(0, bytes.length - 1))
      return { kind, requests: [], pieces: [part], ending: kind === 'half' ? 'leave' : 'wait' }
    }
  }
}

function anyKind(random: Random): ExchangeKind {
  let left = random.integer(1, 1_000)
  for (const [kind, share] of SHARES) {
    left -= share
    if (left <= 0) return kind
  }
  return 'mutated'
}

function whole(kind: ExchangeKind, requests: readonly WireRequest[]): Omit<Exchange, 'to'> {
  return { kind, requests, pieces: [Buffer.concat(requests.map(render))], ending: 'answer' }
}

function valid(random: Random, world: World, to: Service): WireRequest {
  return validRequest(anyRoute(random, to), random, world).request
}

function mutated(random: Random, world: World, to: Service): WireRequest {
  return mutateRequest(validRequest(anyRoute(random, to), random, world), random, world)
}

function any(random: Random, world: World, to: Service): WireRequest {
  return random.chance(0.5) ? valid(random, world, to) : mutated(random, world, to)
}

function pipeline(random: Random, world: World, to: Service): WireRequest[] {
  return Array.from({ length: random.integer(2, 6) }, () => any(random, world, to))
}

function split(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random.integer(1, 5) }, () => random.integer(0, bytes.length))
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to))
}

/** Headers that say how long a request is, or what becomes of its connection. */
const FRAMING: readonly [Header, ...Header[]] = [
  ['Content-Length', '5'],
  ['Content-Length', '-1'],
  ['Content-Length', '99999999999999999999'],
  ['Content-Length', '1, 1'],
  ['Transfer-Encoding', 'chunked'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Transfer-Encoding', 'x'],
  ['Expect', '100-continue'],
  ['Expect', '200-maybe'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['Connection', 'Upgrade, HTTP2-Settings'],
  ['Connection', 'close'],
  ['Connection', 'keep-alive, x'],
  ['Trailer', 'X'],
  ['X', 'y'.repeat(20_000)],
  ['X', 'a\nb'],
  ['X\0', 'b'],
  ['Host', 'a'],
]
const STARTS = ['GET', 'POST', 'CONNECT', 'FOO', 'get', 'PRI', 'TRACE', ''] as const
const VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', 'ICY 200 OK', ''] as const

function misframed(random: Random, world: World, to: Service): Buffer {
  const request = valid(random, world, to)
  const [name, value] = random.pick(FRAMING)
  switch (random.integer(0, 5)) {
    case 0:
      return render(withHeader(request, 'Host', undefined))
    case 3:
      return render({ ...request, target: random.pick(['health', '?', '']) })
    case 1:
      return render({ ...request, method: random.pick(STARTS) })
    case 2: {
      const text = render(request).toString('latin1')
      return Buffer.from(text.replace('HTTP/1.1', random.pick(VERSIONS)), 'latin1')
    }
    default:
      return render({ ...request, headers: [...request.headers, [name, value]] })
  }
}

/** A request, or several, some bytes of which are others. */
function damaged(random: Random, world: World, to: Service): Buffer {
  const requests = random.chance(0.3) ? pipeline(random, world, to) : [any(random, world, to)]
  const bytes = Buffer.concat(requests.map(withoutHead).map(render))
  // Most of it is head: there a byte makes the larger difference.
  if (random.chance(0.5)) return mutateBytes(bytes, random, random.integer(1, 8))
  const [head, rest] = [bytes.subarray(0, 120), bytes.subarray(120)]
  return Buffer.concat([mutateBytes(head, random, random.integer(1, 3)), rest])
}

/** Where answers cannot be matched with requests, the length of an answer to HEAD is unknown. */
function withoutHead(request: WireRequest): WireRequest {
  return request.method === 'HEAD' ? { ...request, method: 'GET' } : request
}
