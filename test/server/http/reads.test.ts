// Reads answered before Express: each answer is the one that Express gives, and is logged in the same way.
import { createServer, type RequestListener } from 'node:http'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { Problem } from '../../../src/server/http/errors.js'
import { answerReads, read } from '../../../src/server/http/reads.js'
import { buildApp } from '../../support/builtApp.js'
import { useChain } from '../../support/chain.js'
import { bytes32, ORG, setUpInstitution } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'

const chain = useChain(setUpInstitution)
const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN
const ID = '0123-a-request'
/** Of the connection, of time, or of the rate limit that stands before the reads alone. */
const APART = new Set(['date', 'connection', 'keep-alive', 'ratelimit', 'ratelimit-policy'])

async function ask(listener: RequestListener, method: string, path: string, headers: Record<string, string>) {
  const server = createServer(listener)
  onTestFinished(() => void server.close())
  const all = { 'X-Request-Id': ID, ...headers }
  const calls = request(server)
  const send = { GET: calls.get, HEAD: calls.head, POST: calls.post, OPTIONS: calls.options }[method]
  if (send === undefined) throw new Error(method)
  const answer = await send.call(calls, path).set(all)
  return {
    status: answer.status,
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !APART.has(name))),
    text: answer.text,
  }
}

async function both(method: string, path: string, headers: Record<string, string> = {}) {
  const { app, api, log } = await buildApp({ chain: chain() })
  const shape = ({ durationMs: _duration, time: _time, ...line }: Record<string, unknown>) => line
  const before = await ask(app, method, path, headers)
  const lines = log.lines().map(shape)
  const after = await ask(api, method, path, headers)
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
  })
})

describe('before Express', () => {
  /** A read that has the answer, and an app that notes what is left to it. */
  function setUp(answer: (id: string) => object | Promise<object>, stopping = new AbortController()) {
    const left: string[] = []
    const { logger, lines } = createLogLines()
    const listener = answerReads(
      (req, res) => {
        left.push(`${req.method} ${req.url}`)
        res.statusCode = 418
        res.end()
      },
      {
        reads: [read('/thing/:id', z.looseObject({}), answer), read('/things', z.looseObject({}), answer)],
        frontendOrigin: ORIGIN,
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
    () => {
      throw new Problem('order-not-found')
    },
    () => Promise.reject(new Error('no node')),
  ])('what fails is left to the app, once, without a line of its own', async (answer) => {
    const { listener, left, lines } = setUp(answer)
    expect((await ask(listener, 'GET', '/thing/0x12', {})).status).toBe(418)
    expect(left).toEqual(['GET /thing/0x12'])
    expect(lines()).toEqual([])
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
})
