// Requests answered before Express: each answer is the one that Express gives, and is logged in the same way.
import { createServer, type RequestListener } from 'node:http'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { signAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import { Problem } from '../../../src/server/http/errors.js'
import { answerFast, type Post, read } from '../../../src/server/http/fastRoutes.js'
import { batchMint } from '../../support/authorizations.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { AAPL, bytes32, ORG, setUpInstitution } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { ENCLAVE_KEY } from '../../support/roles.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const chain = useChain(setUpInstitution)
const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN
const ID = '0123-a-request'
/** Headers that belong to the connection, to time, or to the rate limit that stands before the reads alone. */
const APART = new Set(['date', 'connection', 'keep-alive', 'ratelimit', 'ratelimit-policy'])

async function ask(
  listener: RequestListener,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
) {
  const server = createServer(listener)
  onTestFinished(() => void server.close())
  const all = { 'X-Request-Id': ID, ...headers }
  const calls = request(server)
  const send = { GET: calls.get, HEAD: calls.head, POST: calls.post, OPTIONS: calls.options }[method]
  if (send === undefined) throw new Error(method)
  const answer = await send.call(calls, path).set(all).send(body)
  return {
    status: answer.status,
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !APART.has(name))),
    text: answer.text,
  }
}

async function both(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  const { app, api, log } = await buildApp({ chain: chain() })
  const shape = ({ durationMs: _duration, time: _time, ...line }: Record<string, unknown>) => line
  const before = await ask(app, method, path, headers, body)
  const lines = log.lines().map(shape)
  const after = await ask(api, method, path, headers, body)
  return { before, after, lines, later: log.lines().slice(lines.length).map(shape) }
}

const unknown = bytes32('unknown')
const PATHS = [
  '/health',
  '/health?query',
  '/market',
  '/enclave-key',
  `/org/${ORG}`,
  `/org/${unknown}`,
  `/policy/${ORG}`,
  `/orders/${unknown}`,
  '/orders/0x12',
  '/wallet/0x12',
  '/wallet/',
  '/wallet',
  '/Health',
  '/health/',
  '//health',
  '/wallet/%30x12',
  '/wallet/%',
  '/nothing',
]
const HEADERS: Record<string, string>[] = [
  {},
  { Origin: ORIGIN },
  { Origin: 'https://evil.example' },
  { 'If-None-Match': '*' },
  { 'If-None-Match': 'W/"another"' },
  { 'If-None-Match': '"one, with a comma"' },
  { 'If-None-Match': 'no tag' },
  { 'If-None-Match': '"another", W/"one more"' },
  { 'Cache-Control': 'no-cache' },
]

describe('a read', () => {
  test.each(PATHS)('%s is answered as Express answers it', async (path) => {
    for (const headers of HEADERS) {
      const { before, after, lines, later } = await both('GET', path, headers)
      expect([path, headers, after]).toEqual([path, headers, before])
      expect(later).toEqual(lines)
    }
  })

  test.each(['HEAD', 'POST', 'OPTIONS'])('by %s, too', async (method) => {
    for (const path of ['/health', `/wallet/${chain().account('alice')}`, '/wallet/0x12']) {
      const { before, after, lines, later } = await both(method, path, { Origin: ORIGIN })
      expect([path, after]).toEqual([path, before])
      expect(later).toEqual(lines)
    }
  })

  test.each([{}, { Origin: ORIGIN }])('whose ETag the caller has is 304, also for %o', async (headers) => {
    const path = `/wallet/${chain().account('alice')}`
    const { after } = await both('GET', path, headers)
    const known = { ...headers, 'If-None-Match': String(after.headers.etag) }
    const again = await both('GET', path, known)
    expect(again.after.status).toBe(304)
    expect(again.after).toEqual(again.before)
    const strong = String(after.headers.etag).slice('W/'.length)
    const third = await both('GET', path, { ...headers, 'If-None-Match': strong })
    expect(third.after).toEqual(third.before)
    const reload = await both('GET', path, { ...known, 'Cache-Control': 'no-cache' })
    expect(reload.after.status).toBe(304)
    expect(reload.after).toEqual(reload.before)
  })
})

describe('POST /orders', () => {
  const json = { 'Content-Type': 'application/json' }

  test('is answered as Express answers it', async () => {
    const { app, api, log } = await buildApp({ chain: chain() })
    const order = JSON.stringify({ orderId: bytes32('an order'), ...(await sealOrder('an intent')) })
    const other = JSON.stringify({ orderId: bytes32('another'), ...(await sealOrder('an intent')) })
    const requests: [path: string, headers: Record<string, string>, body: string][] = [
      ['/orders', json, order],
      ['/orders?query', json, order],
      ['/orders', { ...json, Origin: ORIGIN }, order],
      ['/orders', { ...json, Origin: 'https://evil.example' }, other],
      ['/orders', { ...json, Origin: ORIGIN, 'Access-Control-Request-Method': 'POST' }, order],
      ['/orders', { 'Content-Type': 'text/plain' }, other],
      ['/orders', { ...json, 'Content-Encoding': 'gzip' }, other],
      ['/orders', json, ''],
      ['/orders', json, '{"orderId":1,"orderId":2}'],
      ['/orders', json, other.replace('"tag":"0x', '"tag":"0')],
      ['/orders', json, other.replace('"iv"', '"ivy"')],
      ['/orders', json, JSON.stringify({ junk: 'x'.repeat(100_000) })],
      ['/orders/', json, other],
      ['/Orders', json, other],
    ]
    // From now on it has been received before.
    await ask(app, 'POST', '/orders', json, order)
    const shape = ({ durationMs: _duration, time: _time, ...line }: Record<string, unknown>) => line
    for (const [path, headers, body] of requests) {
      const start = log.lines().length
      const before = await ask(app, 'POST', path, headers, body)
      const middle = log.lines().length
      const after = await ask(api, 'POST', path, headers, body)
      const lines = log.lines().map(shape)
      expect([path, headers, body, after]).toEqual([path, headers, body, before])
      expect(lines.slice(middle)).toEqual(lines.slice(start, middle))
    }
    const unknown = await ask(api, 'GET', `/orders/${bytes32('another')}`, {})
    expect(unknown.status).toBe(404)
  })
})

describe('POST /relay', () => {
  const token = { Authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
  const json = { 'Content-Type': 'application/json', ...token }
  /** Good in form, and signed for another contract. */
  const domain = { chainId: 1, verifyingContract: `0x${'12'.repeat(20)}` } as const
  const signed = signAuthorization(batchMint(AAPL, 1n), domain, ENCLAVE_KEY)
  const forged = JSON.stringify(z.encode(signedAuthorizationSchema, signed))

  test.each<[string, Record<string, string>, string, number]>([
    ['a forgery', json, forged, 422],
    ['a forgery of another origin', { ...json, Origin: 'https://evil.example' }, forged, 403],
    ['no authorization', json, '{}', 400],
    ['no JSON', json, '{', 400],
    ['no body', json, '', 400],
    ['another type', { ...json, 'Content-Type': 'text/plain' }, forged, 415],
    ['a body that is too large', json, JSON.stringify('x'.repeat(200_000)), 413],
    ['no token', { 'Content-Type': 'application/json' }, forged, 401],
    ['another token, and a body that is no JSON', { ...json, Authorization: 'Bearer x' }, '{', 401],
  ])('with %s is answered as Express answers it', async (_name, headers, body, status) => {
    const { before, after, lines, later } = await both('POST', '/relay', headers, body)
    expect(after).toEqual(before)
    expect(after.status).toBe(status)
    expect(later).toEqual(lines)
  })

  test.each([
    ['GET', '/relay', 405],
    ['POST', `/relay/${unknown}`, 405],
    ['GET', '/relay/0x12', 400],
    ['HEAD', '/relay/0x12', 400],
    ['GET', '/relay/', 404],
  ])('%s %s, with and without the token', async (method, path, status) => {
    for (const headers of [token, {}, { Authorization: 'Basic x' }]) {
      const { before, after, lines, later } = await both(method, path, headers)
      expect(after).toEqual(before)
      expect(after.status).toBe(headers === token ? status : 401)
      expect(later).toEqual(lines)
    }
  })
})

describe('before Express', () => {
  /** A read that has the answer, and an app that notes what is left to it. */
  function setUp(
    answer: (id: string) => object | Promise<object>,
    stopping = new AbortController(),
    make: Post['answer'] = async (body, client) => ({
      status: 201,
      location: '/made/1',
      body: { body, client },
    }),
  ) {
    const left: string[] = []
    const { logger, lines } = createLogLines()
    const listener = answerFast(
      (req, res) => {
        left.push(`${req.method} ${req.url}`)
        res.statusCode = 418
        res.end()
      },
      {
        routes: [
          read('/thing/:id', z.looseObject({}), answer),
          read('/things', z.looseObject({}), answer),
          { method: 'POST', path: '/made', bodyLimitBytes: 100, answer: make },
        ],
        frontendOrigin: ORIGIN,
        trustProxy: 0,
        stopping: stopping.signal,
        logger,
        observe: () => undefined,
      },
    )
    return { listener, left, lines }
  }

  test.each([() => ({ a: 1 }), async () => ({ a: 1 })])('what succeeds is answered', async (answer) => {
    const { listener, left, lines } = setUp(answer)
    for (const path of ['/thing/0x12', '/things', '/things?query'])
      expect((await ask(listener, 'GET', path, {})).text).toBe('{"a":1}')
    expect(left).toEqual([])
    expect(lines().map(({ route, requestId }) => [route, requestId])).toEqual([
      ['/thing/:id', ID],
      ['/things', ID],
      ['/things', ID],
    ])
  })

  test.each([
    [
      () => {
        throw new Problem('order-not-found')
      },
      'order-not-found',
    ],
    [() => Promise.reject(new Error('no node')), 'internal-error'],
  ] as const)('what fails is answered, too, and logged with its code', async (answer, code) => {
    const { listener, left, lines } = setUp(answer)
    const { status, text } = await ask(listener, 'GET', '/thing/0x12', {})
    expect(JSON.parse(text)).toMatchObject({ code, status, requestId: ID })
    expect(left).toEqual([])
    const [line] = lines().filter(({ msg }) => msg === 'request')
    expect(line).toMatchObject({ route: '/thing/:id', requestId: ID, status, code })
    expect(lines().filter(({ msg }) => msg === 'request failed')).toHaveLength(status === 500 ? 1 : 0)
  })

  test('another ETag than the present one is answered without the app', async () => {
    const { listener, left } = setUp(() => ({ a: 1 }))
    const answer = await ask(listener, 'GET', '/things', { 'If-None-Match': 'W/"another"' })
    expect([answer.status, answer.text, left]).toEqual([200, '{"a":1}', []])
  })

  test('nothing is answered once the server stops', async () => {
    const stopping = new AbortController()
    const { listener, left } = setUp(() => ({ a: 1 }), stopping)
    stopping.abort()
    await ask(listener, 'GET', '/things', {})
    expect(left).toEqual(['GET /things'])
  })

  const json = { 'Content-Type': 'application/json' }

  test('what is posted is answered', async () => {
    const { listener, left, lines } = setUp(() => ({}))
    const answer = await ask(listener, 'POST', '/made?query', json, '{"a":1}')
    expect([answer.status, answer.text]).toEqual([201, '{"body":{"a":1},"client":"127.0.0.1"}'])
    expect(answer.headers).toMatchObject({ location: '/made/1', 'x-request-id': ID, vary: 'Origin' })
    expect(left).toEqual([])
    expect(lines().map(({ method, route, status }) => [method, route, status])).toEqual([
      ['POST', '/made', 201],
    ])
  })

  test.each<[string, Record<string, string>, string, string, Post['answer']?]>([
    ['a body of another type', { 'Content-Type': 'text/plain' }, '{}', 'unsupported-media-type'],
    ['no JSON', json, '{', 'malformed-json'],
    ['a body that is too large', json, JSON.stringify('x'.repeat(100)), 'body-too-large'],
    ['a failure', json, '{}', 'internal-error', () => Promise.reject(new Error('no disk'))],
    [
      'a body that its schema refuses',
      json,
      '{}',
      'invalid-body',
      () => {
        throw new Problem('invalid-body')
      },
    ],
  ])('%s is refused, with one line that has the code', async (_name, headers, body, code, make) => {
    const { listener, left, lines } = setUp(() => ({}), undefined, make)
    const { status, text } = await ask(listener, 'POST', '/made', headers, body)
    expect(JSON.parse(text)).toMatchObject({ code, status })
    expect(left).toEqual([])
    const own = lines().filter(({ msg }) => msg === 'request')
    expect(own.map((line) => [line.route, line.status, line.code])).toEqual([['/made', status, code]])
  })
})
