// Arbitraries of requests, made from the schemas of the routes: right ones, and the same changed.
import { METHODS } from 'node:http'
import fc from 'fast-check'
import * as z from 'zod'
import { signAuthorization, signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { commitOf } from '../../src/protocol/envelope.js'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'
import { domainOf } from '../support/authorizations.js'
import { keyOf, signOpening } from '../support/openings.js'
import { ENCLAVE_KEY } from '../support/roles.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { ROUTES, type Route, type Service } from './routes.js'
import { anyBytes, anyValueOf } from './schemaArbitrary.js'
import { POINT, type World } from './world.js'

type Header = readonly [name: string, value: string]
type Json = Readonly<Record<string, unknown>>

/** A request before it is bytes. */
export interface WireRequest {
  readonly method: string
  /** The request line's second part, as it is. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | undefined
  /** Whether it is wrong for sure: a body with a member that its schema lacks, or a signature of something else. */
  readonly mustFail?: boolean
}

/** The bytes of one connection. */
export interface Exchange {
  readonly to: Service
  /** Undefined where damaged bytes may ask for anything. */
  readonly request: WireRequest | undefined
  readonly bytes: Buffer
  /** `answer`: the request has one. `end`: the caller ends its side, and reads what there is. `leave`: the caller is gone as soon as all is sent. */
  readonly ending: 'answer' | 'end' | 'leave'
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
/** Headers that leave a request one request. */
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
const TARGETS =
  `/* * // /. /../orders /%2e%2e/orders /orders/% /orders/%00 /orders/%ff /orders/%C0%AF/timeline /Orders /relays
/relay/a/b /docs/errors.md /__proto__ /livez http://localhost/health http://[/health http://%/health HTTP://a:b@c:99999/market
/health?a=b&a[b]=c&__proto__=1 /health#x /:orderId /orders/\\ /${'a'.repeat(8_000)}`.split(/\s/)
const PARTS = `0x zz %20 %0a % 0x12 constructor 0X${'5a'.repeat(32)} .. ::`.split(' ')
const SUFFIXES = '/ ?x ? # ;a=b %20 /x // .json'.split(' ')
/** CONNECT asks for a tunnel. */
const OTHER_METHODS = METHODS.filter((method) => method !== 'CONNECT')
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1e21, '', '0x', '0x0', '\u0000', '\ud800', 'constructor', [], {}, [[[]]]],
  ...[{ toString: 1 }, '9'.repeat(400), `0x${'ab'.repeat(5_000)}`],
]
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'v', '', 'orderId', 'ct', '\u2028']
const INSERTIONS = ['', ...' |"|{|}|[|,|:|\\|\0|/**/|1e999|null|\r\n|\r\n\r\n|０'.split('|')]

const insertion = fc.oneof(
  fc.constantFrom(...INSERTIONS).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
)
/** Replaces some bytes. Half of the edits are at the beginning, where a byte makes the larger difference. */
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

/** The text of a body that is wrong in one way, or in a way that changes nothing. */
const bodyEdit: fc.Arbitrary<(json: Json) => Buffer> = fc
  .record({ place: fc.nat(), added: fc.constantFrom(...NAMES), other: value, edit: bytesEdit })
  .chain(({ place, added, other, edit }) => {
    const nameIn = (json: Json) => Object.keys(json)[place % Math.max(1, Object.keys(json).length)] ?? ''
    return fc.constantFrom<((json: Json) => Buffer)[]>(
      (json) => textOf({ ...json, [nameIn(json)]: other }),
      (json) => textOf({ ...json, [nameIn(json)]: undefined }),
      (json) => textOf({ ...json, [added]: other }),
      (json) => Buffer.from(`{"${nameIn(json)}":1,${textOf(json).subarray(1)}`),
      (json) => textOf(json).subarray(0, place % textOf(json).length),
      (json) => edit(textOf(json)),
      (json) => Buffer.from('{"a":'.repeat([1, 31, 33, 10_000][place % 4] ?? 1) + textOf(json)),
      () => Buffer.alloc(60_000 + (place % 140_000), 0x20),
    )
  })

/** The parts of a request. */
interface Draft {
  readonly route: Route
  readonly target: string
  readonly headers: readonly Header[]
  readonly json: Json | undefined
}

/** Documents with right signatures, and any content. */
function signedBodies({ chain, now }: World): Readonly<Record<string, fc.Arbitrary<unknown>>> {
  const order = fc
    .record({
      role: fc.constantFrom('alice' as const, 'bob' as const, 'dave' as const),
      orderId: anyBytes(32, 32),
      sealed: fc.record({ iv: anyBytes(12, 12), ct: anyBytes(1, 600), tag: anyBytes(16, 16) }),
      amount: fc.constantFrom(0n, 1n, 1_000_000n, 2n ** 200n),
      deadline: fc.constantFrom(now - 1, now + 3_600, now + 100_000),
      validBefore: fc.constantFrom(now - 1, now + 1_800),
    })
    .map(({ role, orderId, sealed, amount, ...times }) => {
      const envelope = { epk: POINT, ...sealed }
      const account = chain.account(role)
      const opening = { account, orderId, commit: commitOf(envelope), amount, ...times }
      const sig = signOpening(chain, opening, { key: keyOf(chain, role) })
      return { orderId, ...envelope, opening: { account, amount: `${amount}`, ...times, sig } }
    })
  const authorization = anyAuthorization.map((one) =>
    z.encode(
      signedAuthorizationSchema,
      signAuthorization(one, domainOf(chain, one.primaryType), ENCLAVE_KEY),
    ),
  )
  return { '/orders': order, '/relay': authorization }
}

const jsonSchema = z.record(z.string(), z.unknown())

/** A request as its own client would send it. */
function anyDraft(to: Service, route: Route, world: World): fc.Arbitrary<Draft> {
  const { path, body } = route
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const parameters = names.map((name) => {
    const known = fc.constantFrom(...(world.parameters[name] ?? []))
    const drawn = name === 'runId' ? fc.uuid({ version: 4 }) : anyBytes(name === 'address' ? 20 : 32, 32)
    return fc.oneof<fc.Arbitrary<string>[]>(known, drawn)
  })
  const known = world.bodies[`${to} ${path}`] ?? []
  const signed = signedBodies(world)[path]
  const bodies: fc.Arbitrary<unknown>[] = [
    ...(known.length > 0 ? [fc.constantFrom(...known)] : []),
    ...(signed === undefined ? [] : [signed]),
    ...(body === undefined ? [] : [anyValueOf(z.toJSONSchema(body, { io: 'input' }))]),
  ]
  const token: Header = ['Authorization', `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`]
  const others: Header[] = [
    ['Origin', SERVER_ENVIRONMENT.FRONTEND_ORIGIN],
    // Another client than all the others, as a proxy tells it.
    ['X-Forwarded-For', '192.0.2.1'],
  ]
  const json = bodies.length === 0 ? fc.constant(undefined) : fc.oneof(...bodies)
  return fc
    .record({ values: fc.tuple(...parameters), json, more: fc.subarray(others) })
    .map(({ values, json, more }) => ({
      route,
      target: names.reduce((target, name, index) => target.replace(`:${name}`, `${values[index]}`), path),
      headers: [['Host', 'localhost'], ...(path.startsWith('/relay') ? [token] : []), ...more],
      json: jsonSchema.optional().parse(json),
    }))
}

/** @param signed the body that its signature is of, where the route wants one */
function requestOf({ route, target, headers, json }: Draft, body = json && textOf(json), signed = body) {
  const { method, signedAs: kind } = route
  const all: Header[] = [...headers]
  if (body !== undefined) all.push(['Content-Type', 'application/json'])
  if (kind !== undefined) {
    all.push(...Object.entries(signRunMessage(RUN_SECRET, messageOf({ route, target, json }, signed))))
  }
  return { method, target, headers: all, body } satisfies WireRequest
}

/** The message that the signature of a run's request is of. */
function messageOf(
  { route, target, json }: Pick<Draft, 'route' | 'target' | 'json'>,
  body: Buffer | undefined,
) {
  const kind = route.signedAs ?? 'job'
  const runId = `${kind === 'job' ? json?.runId : target.split('/')[2]}`
  return { kind, runId, body: `${body}` }
}

/** Signatures that are not those of the message. */
const FORGERIES: readonly ((message: ReturnType<typeof messageOf>) => object)[] = [
  (message) => signRunMessage(`whsec_${Buffer.alloc(32, 1).toString('base64')}`, message),
  (message) => signRunMessage(RUN_SECRET, message, new Date(Date.now() - 3_600_000)),
  (message) => signRunMessage(RUN_SECRET, { ...message, runId: '00000000-0000-4000-8000-000000000009' }),
  (message) => signRunMessage(RUN_SECRET, { ...message, kind: message.kind === 'job' ? 'result' : 'job' }),
  (message) => signRunMessage(RUN_SECRET, { ...message, body: `${message.body} ` }),
  () => ({}),
]

/** The same request, made so that nothing may come of it; as it is where its route has no body. */
const refusal: fc.Arbitrary<(draft: Draft) => WireRequest> = fc
  .tuple(fc.boolean(), fc.constantFrom(...FORGERIES))
  .map(([isForged, forge]) => (draft: Draft) => {
    const { route, json } = draft
    if (json === undefined) return requestOf(draft)
    if (route.signedAs === undefined || !isForged) {
      return { ...requestOf(draft, textOf({ ...json, unknown: 1 })), mustFail: true }
    }
    const signature = Object.entries(forge(messageOf(draft, textOf(json))))
    const others = requestOf(draft).headers.filter(([name]) => !name.startsWith('webhook-'))
    const headers = [...others, ...signature.map(([name, text]): Header => [name, `${text}`])]
    return { ...requestOf(draft), headers, mustFail: true }
  })

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
  refusal,
  fc.oneof(fc.constant('HEAD'), fc.constantFrom(...OTHER_METHODS)).map((method) => (draft: Draft) => ({
    ...requestOf(draft),
    method,
  })),
  anyTarget.map((edit) => (draft: Draft) => ({ ...requestOf(draft), target: edit(draft.target) })),
  fc.constantFrom(...HEADERS).map((header) => (draft: Draft) => withHeader(requestOf(draft), header)),
  {
    weight: 3,
    // A GET gets a body, which the server does not read. Most are signed anew, to reach the code behind the signature, too.
    arbitrary: fc.tuple(bodyEdit, fc.nat(2)).map(([edit, share]) => (draft: Draft) => {
      const body = edit(draft.json ?? {})
      return requestOf(draft, body, share > 0 ? body : Buffer.alloc(0))
    }),
  },
)

/** The bytes of a request with its true length. */
function render({ method, target, headers, body }: WireRequest): Buffer {
  const length: Header[] = body === undefined ? [] : [['Content-Length', `${body.length}`]]
  const lines = [...headers, ...length].map(([name, text]) => `${name}: ${text}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
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

  const right = draft.map((one): WireRequest => requestOf(one))
  const changed = fc.tuple(draft, change).map(([one, apply]) => apply(one))
  const damaged = fc
    // Without its request, an answer to HEAD cannot be told from one with a body.
    .tuple(
      fc.oneof(
        right,
        changed.filter(({ method }) => method !== 'HEAD'),
      ),
      bytesEdit,
    )
    .map(([one, edit]) => edit(render(one)))
  const half = fc.tuple(right, fc.nat()).map(([one, cut]) => {
    const bytes = render(one)
    return bytes.subarray(0, 1 + (cut % (bytes.length - 1)))
  })
  const sent = (request: WireRequest) => ({ to, request, bytes: render(request), ending: 'answer' as const })
  const unmatched = (ending: Exchange['ending']) => (bytes: Buffer) => ({
    to,
    request: undefined,
    bytes,
    ending,
  })
  return fc.oneof<{ weight: number; arbitrary: fc.Arbitrary<Exchange> }[]>(
    { weight: 30, arbitrary: right.map(sent) },
    { weight: 55, arbitrary: changed.map(sent) },
    { weight: 12, arbitrary: damaged.map(unmatched('end')) },
    { weight: 3, arbitrary: half.map(unmatched('leave')) },
  )
}
