import { METHODS } from 'node:http'
import type { Random } from '../../faults/random.js'
import { mutateJson } from './jsonMutations.js'
import type { ValidRequest } from './validRequests.js'
import { headerOf, type WireRequest, withHeader } from './wire.js'
import type { World } from './world.js'

type Headers = readonly [readonly [string, string], ...(readonly [string, string])[]]

/** Those that a request may carry and be whole. */
function headersOf(random: Random, world: World): Headers {
  return [
    [
      'Origin',
      random.pick(['null', `${world.origin}.evil.example`, 'https://evil.example', '', world.origin]),
    ],
    ['Access-Control-Request-Method', 'POST'],
    ['Content-Type', random.pick(['text/plain', '', 'application/json; charset=latin1', ';', '*/*', 'é'])],
    [
      'Content-Type',
      random.pick(['application/json;charset="utf-8"', 'APPLICATION/JSON', 'application/jsonp']),
    ],
    ['Content-Encoding', random.pick(['gzip', 'identity', 'br, gzip', ''])],
    [
      'Authorization',
      random.pick(['', 'Bearer', 'Bearer x', `Basic ${world.token}`, `bearer  ${world.token} `]),
    ],
    ['If-None-Match', random.pick(['*', '""', 'W/"x"', '"', ',,,'])],
    ['X-Request-Id', random.pick(['abc', 'a b', '', 'é', 'x'.repeat(129)])],
    ['X-Forwarded-For', random.pick(['1.2.3.4', '::1, ::2', 'nobody', '%'])],
    ['Prefer', random.pick(['wait=0', 'wait=-1', 'wait=1e9', 'wait="', 'respond-async'])],
    ['Accept', random.pick(['text/html', '', 'application/problem+json;q=0', '*'])],
    ['Accept-Encoding', 'gzip'],
    ['Cookie', `a=${'b'.repeat(random.integer(0, 8_000))}`],
    ['Range', random.pick(['bytes=0-1', 'bytes=', 'x'])],
    ['If-Modified-Since', random.pick(['Thu, 01 Jan 2099 00:00:00 GMT', 'x'])],
    ['__proto__', 'x'],
    ['Cache-Control', 'no-cache'],
  ]
}

const TARGETS = [
  '/*',
  '*',
  '//',
  '/.',
  '/../orders',
  '/%2e%2e/orders',
  '/orders/%',
  '/orders/%00',
  '/orders/%ff',
  '/orders/%C0%AF/timeline',
  '/Orders',
  '/relays',
  '/relay/a/b',
  '/docs/errors.md',
  '/__proto__',
  '/livez',
  'http://localhost/health',
  'http://[/health',
  'http://%/health',
  'HTTP://a:b@c:99999/market',
  '/health?a=b&a[b]=c&__proto__=1',
  '/health#x',
  '/:orderId',
  '/orders/\\',
  `/${'a'.repeat(8_000)}`,
] as const
const PARAMETERS = [
  '0x',
  'zz',
  '%20',
  '%0a',
  '%',
  '0x12',
  'constructor',
  `0X${'5a'.repeat(32)}`,
  '..',
  '::',
] as const

const RESIGNED = 0.7

/** The same request, changed in a way that leaves it one request. */
export function mutateRequest(
  { request, json, sign }: ValidRequest,
  random: Random,
  world: World,
): WireRequest {
  switch (random.integer(0, 5)) {
    case 0:
      return { ...request, method: anyMethod(random) }
    case 1:
      return { ...request, target: random.pick(TARGETS) }
    case 2:
      return { ...request, target: mutateTarget(request.target, random) }
    case 3:
      return withHeader(request, ...random.pick(headersOf(random, world)))
    default:
      if (json === undefined) return withBodyOfNoUse(request, random)
      // Signed anew, to reach the code behind the signature, too.
      return random.chance(RESIGNED)
        ? sign(withOtherBody(request, json, random))
        : withOtherBody(request, json, random)
  }
}

/** Those that Node knows, but for the one that asks for a tunnel. */
function anyMethod(random: Random): string {
  const [first = 'GET', ...others] = METHODS.filter((method) => method !== 'CONNECT')
  return random.chance(0.3) ? 'HEAD' : random.pick([first, ...others])
}

function mutateTarget(target: string, random: Random): string {
  const parts = target.split('/')
  const at = random.integer(1, parts.length - 1)
  switch (random.integer(0, 4)) {
    case 0:
      return [...parts.slice(0, at), random.pick(PARAMETERS), ...parts.slice(at + 1)].join('/')
    case 1:
      return `${target}/`
    case 2:
      return `${target}${random.pick(['?x', '?', '#', ';a=b', '%20', '/x', '//', '.json'])}`
    case 3:
      return target.toUpperCase()
    default:
      return target.slice(0, random.integer(1, target.length))
  }
}

function withOtherBody(
  request: WireRequest,
  json: NonNullable<ValidRequest['json']>,
  random: Random,
): WireRequest {
  if (random.chance(0.01)) return { ...request, body: Buffer.alloc(random.integer(60_000, 200_000), 0x20) }
  return { ...request, body: mutateJson(json, random) }
}

/** A GET with a body, which the server does not read. */
function withBodyOfNoUse(request: WireRequest, random: Random): WireRequest {
  const body = Buffer.alloc(random.pick([0, 1, 100, 70_000]), 0x7b)
  const typed = headerOf(request, 'Content-Type') ?? 'application/json'
  return { ...withHeader(request, 'Content-Type', typed), body }
}
