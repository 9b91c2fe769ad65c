// Arbitraries of requests, made from the schemas of the routes: right ones, and the same changed.
import { METHODS } from 'node:http'
import fc from 'fast-check'
import { z } from 'zod'
import { bytesToHex } from '../../src/protocol/hex.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { ROUTES, type Route, type Service } from './routes.js'
import { anyValueOf } from './schemaArbitrary.js'
import type { World } from './world.js'

type Header = readonly [name: string, value: string]
type Json = Readonly<Record<string, unknown>>

/** A request before it is bytes. */
export interface WireRequest {
  readonly method: string
  /** The request line's second part, as it is. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | undefined
}

/** What is sent on one connection. */
export interface Exchange {
  readonly to: Service
  readonly requests: readonly WireRequest[]
  /** The bytes, sent in pieces one after the other. */
  readonly pieces: readonly Buffer[]
  /**
   * `answer`: each request has an answer. `end`: the caller says that no more comes, and reads what there is. `leave`: the caller is gone as
   * soon as all is sent. `wait`: the caller leaves it to the server to end the connection.
   */
  readonly ending: 'answer' | 'end' | 'leave' | 'wait'
}

/** One header a line, with its values. */
const headersIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', values = ''] = line.split(/: (.*)/)
      return values.split(' | ').map((value): Header => [name, value])
    })
/** Headers that a request may carry and be whole. */
const HEADERS = headersIn(`
Origin: null | http://localhost:5173.evil.example | x
Access-Control-Request-Method: POST
Content-Type: text/plain | ; | */* | é | application/json; charset=latin1 | APPLICATION/JSON | application/jsonp
Content-Encoding: gzip | identity | br, gzip
Authorization: Bearer | Bearer x | Basic ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}
If-None-Match: * | "" | W/"x" | " | ,,,
X-Request-Id: abc | a b | é | ${'x'.repeat(129)}
X-Forwarded-For: 1.2.3.4 | ::1, ::2 | nobody | %
Prefer: wait=0 | wait=-1 | wait=1e9 | wait=" | respond-async
Accept: text/html | application/problem+json;q=0 | *
Accept-Encoding: gzip
Cookie: a=${'b'.repeat(8_000)}
Range: bytes=0-1 | bytes= | x
If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT | x
__proto__: x
Cache-Control: no-cache`)
/** Those that say how long a request is, or what becomes of its connection. */
const FRAMING = headersIn(`
Content-Length: 5 | -1 | 99999999999999999999 | 1, 1
Transfer-Encoding: chunked | gzip, chunked | x
Expect: 100-continue | 200-maybe
Upgrade: websocket | h2c
Connection: Upgrade, HTTP2-Settings | keep-alive, x
Trailer: X
X: ${'y'.repeat(20_000)} | a\0b
X\0: b
Host: a`)
const TARGETS =
  `/* * // /. /../orders /%2e%2e/orders /orders/% /orders/%00 /orders/%ff /orders/%C0%AF/timeline /Orders /relays
/relay/a/b /docs/errors.md /__proto__ /livez http://localhost/health http://[/health http://%/health HTTP://a:b@c:99999/market
/health?a=b&a[b]=c&__proto__=1 /health#x /:orderId /orders/\\ /${'a'.repeat(8_000)}`.split(/\s/)
const PARTS = `0x zz %20 %0a % 0x12 constructor 0X${'5a'.repeat(32)} .. ::`.split(' ')
const SUFFIXES = '/ ?x ? # ;a=b %20 /x // .json'.split(' ')
/** Those that Node knows, but for the one that asks for a tunnel. */
const OTHER_METHODS = METHODS.filter((method) => method !== 'CONNECT')
const WRONG_METHODS = ['GET', 'CONNECT', 'FOO', 'get', 'PRI', '']
const WRONG_VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', 'ICY 200 OK', '']
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1e21, '', '0x', '0x0', '\u0000', '\ud800', 'constructor', [], {}, [[[]]]],
  ...[{ toString: 1 }, '9'.repeat(400), `0x${'ab'.repeat(5_000)}`],
]
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'v', '', 'orderId', 'ct', '\u2028']
const INSERTIONS = ['', ...' |"|{|}|[|,|:|\\|\0|/**/|1e999|null|\r\n|\r\n\r\n|０'.split('|')]

const percent = fc.integer({ min: 0, max: 99 })
const buffer = (bytes: Uint8Array) => Buffer.from(bytes)
const insertion = fc.oneof(
  fc.constantFrom(...INSERTIONS).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 3 }).map(buffer),
)
/** Some bytes are taken out, and others put in. Half of the edits are at the beginning, where a byte makes the larger difference. */
const bytesEdit = fc
  .array(fc.tuple(fc.nat(), fc.nat(4), insertion), { minLength: 1, maxLength: 4 })
  .map((edits) => (bytes: Buffer) => {
    let edited = bytes
    for (const [place, cut, put] of edits) {
      const within = place % 2 === 0 ? edited.length : Math.min(120, edited.length)
      const at = place % (within + 1)
      edited = Buffer.concat([edited.subarray(0, at), put, edited.subarray(at + cut)])
    }
    return edited
  })

const value = fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue())
const textOf = (json: unknown): Buffer => Buffer.from(JSON.stringify(json))
const nameIn = (json: Json, place: number) =>
  Object.keys(json)[place % Math.max(1, Object.keys(json).length)] ?? ''

/** The text of a body that is wrong in one way, or in a way that changes nothing. */
const bodyEdit: fc.Arbitrary<(json: Json) => Buffer> = fc.oneof(
  fc.tuple(fc.nat(), value).map(
    ([place, other]) =>
      (json: Json) =>
        textOf({ ...json, [nameIn(json, place)]: other }),
  ),
  fc.tuple(fc.constantFrom(...NAMES), value).map(
    ([added, other]) =>
      (json: Json) =>
        textOf({ ...json, [added]: other }),
  ),
  fc.nat().map((place) => (json: Json) => textOf({ ...json, [nameIn(json, place)]: undefined })),
  fc
    .nat()
    .map((place) => (json: Json) => Buffer.from(`{"${nameIn(json, place)}":1,${textOf(json).subarray(1)}`)),
  fc.nat().map((place) => (json: Json) => textOf(json).subarray(0, place % textOf(json).length)),
  bytesEdit.map((edit) => (json: Json) => edit(textOf(json))),
  fc
    .constantFrom(1, 31, 33, 10_000)
    .map((depth) => (json: Json) => Buffer.from('{"a":'.repeat(depth) + textOf(json))),
  fc.integer({ min: 60_000, max: 200_000 }).map((length) => () => Buffer.alloc(length, 0x20)),
)

/** What a request is made of. */
interface Draft {
  readonly route: Route
  readonly target: string
  readonly headers: readonly Header[]
  readonly json: Json | undefined
}

const jsonSchema = z.record(z.string(), z.unknown())

/** A request as its own client would send it. */
function anyDraft(to: Service, route: Route, world: World): fc.Arbitrary<Draft> {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const parameters = names.map((name) => {
    const drawn = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): string => bytesToHex(bytes))
    const known = fc.constantFrom(...(world.parameters[name] ?? []))
    return fc.oneof(known, name === 'runId' ? fc.uuid({ version: 4 }) : drawn)
  })
  const known = world.bodies[`${to} ${route.path}`] ?? []
  const bodies: fc.Arbitrary<unknown>[] = [
    ...(known.length > 0 ? [fc.constantFrom(...known)] : []),
    ...(route.body === undefined ? [] : [anyValueOf(z.toJSONSchema(route.body, { io: 'input' }))]),
  ]
  const token: Header = ['Authorization', `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`]
  // Another client than all the others, as a proxy tells it.
  const others: Header[] = [
    ['Origin', SERVER_ENVIRONMENT.FRONTEND_ORIGIN],
    ['X-Forwarded-For', '192.0.2.1'],
  ]
  return fc
    .record({
      values: fc.tuple(...parameters),
      json:
        bodies.length > 0
          ? fc.oneof(...bodies).map((body) => jsonSchema.parse(body))
          : fc.constant<undefined>(undefined),
      more: fc.subarray(others),
    })
    .map(({ values, json, more }) => ({
      route,
      target: names.reduce((path, name, index) => path.replace(`:${name}`, `${values[index]}`), route.path),
      headers: [['Host', 'localhost'], ...(route.path.startsWith('/relay') ? [token] : []), ...more],
      json,
    }))
}

/** @param signed the body that its signature is of, where the route wants one */
function requestOf({ route, target, headers, json }: Draft, body = json && textOf(json), signed = body) {
  const { method, signedAs: kind } = route
  const all: Header[] = [...headers]
  if (body !== undefined) all.push(['Content-Type', 'application/json'])
  if (kind !== undefined) {
    const runId = `${kind === 'job' ? json?.runId : target.split('/')[2]}`
    const signature = signRunMessage(RUN_SECRET, { kind, runId, body: `${signed}` }, new Date())
    for (const [name, text] of Object.entries(signature)) all.push([name, `${text}`])
  }
  return { method, target, headers: all, body } satisfies WireRequest
}

function withHeader(request: WireRequest, header: Header): WireRequest {
  const others = request.headers.filter(([other]) => other.toLowerCase() !== header[0].toLowerCase())
  return { ...request, headers: [...others, header] }
}

const anyTarget: fc.Arbitrary<(target: string) => string> = fc.oneof(
  fc.constantFrom(...TARGETS).map((other) => () => other),
  fc.constantFrom(...SUFFIXES).map((suffix) => (target: string) => target + suffix),
  fc.constantFrom(...PARTS).map((part) => (target: string) => target.replace(/[^/]*$/, part)),
  fc.nat().map((length) => (target: string) => target.slice(0, 1 + (length % target.length))),
)

/** The same request, changed in a way that leaves it one request. */
const change: fc.Arbitrary<(draft: Draft) => WireRequest> = fc.oneof(
  fc.oneof(fc.constant('HEAD'), fc.constantFrom(...OTHER_METHODS)).map((method) => (draft: Draft) => ({
    ...requestOf(draft),
    method,
  })),
  anyTarget.map((edit) => (draft: Draft) => ({ ...requestOf(draft), target: edit(draft.target) })),
  fc.constantFrom(...HEADERS).map((header) => (draft: Draft) => withHeader(requestOf(draft), header)),
  {
    weight: 3,
    // A GET gets a body, which the server does not read. Mostly signed anew, to reach the code behind the signature, too.
    arbitrary: fc.tuple(bodyEdit, percent).map(([edit, share]) => (draft: Draft) => {
      const body = edit(draft.json ?? {})
      return requestOf(draft, body, share < 70 ? body : Buffer.alloc(0))
    }),
  },
)

/** The bytes of a request with its true length. */
function render({ method, target, headers, body }: WireRequest, version = 'HTTP/1.1'): Buffer {
  const length: Header[] = body === undefined ? [] : [['Content-Length', `${body.length}`]]
  const lines = [...headers, ...length].map(([name, text]) => `${name}: ${text}\r\n`)
  const head = Buffer.from(`${method} ${target} ${version}\r\n${lines.join('')}\r\n`, 'latin1')
  return body === undefined ? head : Buffer.concat([head, body])
}

/** Any exchange with a service. */
export function anyExchange(to: Service, world: World): fc.Arbitrary<Exchange> {
  const draft = fc.oneof(
    ...ROUTES[to].map((route) => ({
      weight: route.body === undefined ? 1 : 3,
      arbitrary: anyDraft(to, route, world),
    })),
  )
  const right: fc.Arbitrary<WireRequest> = draft.map((one) => requestOf(one))
  const changed = fc.tuple(draft, change).map(([one, apply]) => apply(one))
  const any = fc.oneof(right, changed)
  // Where answers cannot be matched with requests, the length of an answer to HEAD is unknown.
  const unmatched = fc
    .array(any, { minLength: 1, maxLength: 3 })
    .map((requests) => requests.map((one) => render(one.method === 'HEAD' ? { ...one, method: 'GET' } : one)))
    .map((all) => Buffer.concat(all))
  const part = fc
    .tuple(unmatched, fc.nat())
    .map(([bytes, length]) => bytes.subarray(0, length % bytes.length))
  const misframed = fc.oneof(
    fc
      .tuple(right, fc.constantFrom(...FRAMING))
      .map(([one, header]) => render({ ...one, headers: [...one.headers, header] })),
    fc.tuple(right, fc.constantFrom(...WRONG_METHODS)).map(([one, method]) => render({ ...one, method })),
    fc.tuple(right, fc.constantFrom(...WRONG_VERSIONS)).map(([one, version]) => render(one, version)),
    right.map((one) => render({ ...one, headers: [] })),
  )

  /** @param cuts where the bytes are sent in pieces */
  function whole(requests: readonly WireRequest[], cuts: readonly number[] = []): Exchange {
    const last = requests.length - 1
    const bytes = Buffer.concat(
      requests.map((one, index) => render(index < last ? one : withHeader(one, ['Connection', 'close']))),
    )
    const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].toSorted((a, b) => a - b)
    const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
    return { to, requests, pieces, ending: 'answer' }
  }
  const as =
    (ending: Exchange['ending']) =>
    (bytes: Buffer): Exchange => ({
      ...{ to, ending },
      requests: [],
      pieces: [bytes],
    })
  return fc.oneof(
    { weight: 250, arbitrary: right.map((one) => whole([one])) },
    { weight: 470, arbitrary: changed.map((one) => whole([one])) },
    { weight: 90, arbitrary: fc.array(any, { minLength: 2, maxLength: 6 }).map((all) => whole(all)) },
    {
      weight: 50,
      arbitrary: fc.tuple(any, fc.array(fc.nat(), { maxLength: 5 })).map(([one, cuts]) => whole([one], cuts)),
    },
    { weight: 40, arbitrary: misframed.map(as('end')) },
    { weight: 70, arbitrary: fc.tuple(unmatched, bytesEdit).map(([bytes, edit]) => as('end')(edit(bytes))) },
    { weight: 29, arbitrary: part.map(as('leave')) },
    // It holds its connection for seconds.
    { weight: 1, arbitrary: part.map(as('wait')) },
  )
}
