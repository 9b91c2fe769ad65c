import { once } from 'node:events'
import { Agent, type RequestListener, request as send } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { createBackpressure, createQueueingDelay } from '../../../src/server/http/backpressure.js'
import type { Answer } from '../../../src/server/http/fastRoutes.js'
import type { FinishedRequest } from '../../../src/server/http/middleware.js'
import {
  backpressureFor,
  type LoadSheddingOptions,
  maxPauseMs,
  shedLoad,
} from '../../../src/server/http/overload.js'
import { createReaders } from '../../../src/server/http/readers.js'
import { OPERATIONS } from '../../../src/server/openapi/operations.js'
import { startServer } from '../../../src/server/server.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { createKeepAliveClient } from '../../support/keepAliveClient.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'
import { SERVER_ENVIRONMENT, serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN
const TOKEN = { authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }

/** A server with too much to do unless told otherwise, and an app that only counts. */
async function setUp(options: Partial<LoadSheddingOptions> & { app?: Answer } = {}) {
  const log = createLogLines()
  const observed: FinishedRequest[] = []
  const taken: string[] = []
  const probed: string[] = []
  const app: Answer = (req, res, headers = {}) => {
    const asked = `${req.method} ${req.url}`
    if (asked.includes('/health')) probed.push(asked)
    else taken.push(asked)
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    res.end()
  }
  const { listener } = shedLoad(options.app ?? app, {
    readers: createReaders(),
    maxWaitMs: 50,
    maxUnderWay: 1_000,
    maxUnderWayPerClient: 1_000,
    rateLimitPerMinute: 1_000_000,
    trustProxy: 0,
    frontendOrigin: ORIGIN,
    authToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    stopping: new AbortController().signal,
    logger: log.logger,
    observe: (finished) => observed.push(finished),
    isLate: () => true,
    ...options,
  })
  return { url: await startRawServer(listener), log, observed, taken, probed }
}

describe('a request that comes too late', () => {
  test.each(OPERATIONS.map(({ method, path }) => ({ method, path })))(
    '$method $path is refused, unless it is a probe or a result of a run',
    async ({ method, path }) => {
      const { url } = await setUp()
      const target = path.replace(/:\w+/g, `0x${'00'.repeat(32)}`)
      const expected = /^\/(?:health|runs\/.*)$/.test(path) ? 200 : 503
      for (const asked of [target, `${target}?query`]) {
        const { status } = await fetch(url + asked, { method })
        expect([asked, status]).toEqual([asked, expected])
      }
    },
  )

  test.each(['/', '/healthy', '/health/', '/relay', '/relayed', '/market/health', '/Relay'])(
    '%s has no exception either',
    async (path) => {
      const { url } = await setUp()
      expect((await fetch(url + path)).status).toBe(503)
    },
  )

  test.each(['/relay', '/relay?query', `/relay/0x${'00'.repeat(32)}`])(
    'is taken at %s when it shows the token, and refused when it shows another',
    async (path) => {
      const { url, taken } = await setUp()
      expect((await fetch(url + path, { headers: TOKEN })).status).toBe(200)
      const other = { authorization: `${TOKEN.authorization}0` }
      expect((await fetch(url + path, { headers: other })).status).toBe(503)
      expect(taken).toEqual([`GET ${path}`])
    },
  )

  test.each(['/relayed', '/market', '/Relay'])('is refused at %s with the token too', async (path) => {
    const { url } = await setUp()
    expect((await fetch(url + path, { headers: TOKEN })).status).toBe(503)
  })

  test.each<[string, RequestInit]>([
    ['of a page', { headers: { Origin: ORIGIN } }],
    ['of another page', { headers: { Origin: 'https://evil.example' } }],
    ['conditional', { headers: { 'If-None-Match': '"x"' } }],
    ['by another method', { method: 'POST' }],
  ])('is no probe: %s', async (_what, init) => {
    const { url, probed } = await setUp()
    expect((await fetch(`${url}/health`, init)).status).toBe(503)
    expect(probed).toEqual([])
  })

  test('is refused with a problem that says when to come back, with the caller’s id', async () => {
    const { url, observed } = await setUp()
    const response = await fetch(`${url}/market/clock?canary`, { headers: { 'X-Request-Id': 'mine' } })
    expect(response.headers.get('retry-after')).toBe('5')
    expect(response.headers.get('x-request-id')).toBe('mine')
    const body = await response.text()
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({
      code: 'overloaded',
      instance: '/market/clock',
      requestId: 'mine',
    })
    expect(body).not.toContain('canary')
    expect(observed).toMatchObject([{ method: 'GET', route: 'unmatched', status: 503, code: 'overloaded' }])
  })

  test('is refused before its body has come, and the connection serves on', async () => {
    const { url } = await setUp()
    const sent = send(`${url}/orders`, { method: 'POST', headers: { 'content-length': 1_000 } })
    onTestFinished(() => {
      sent.destroy()
    })
    sent.flushHeaders()
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(503)
    expect(response.headers.connection).toBe('keep-alive')
  })

  test('is counted in the log, with others of the same second', async () => {
    const { url, log } = await setUp()
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/market`)))
    const counts = () =>
      log.lines().flatMap(({ msg, count }) => (msg === 'requests refused: overloaded' ? [Number(count)] : []))
    const sum = () => counts().reduce((total, count) => total + count, 0)
    await eventually('the log line', () => sum() === 20)
    await fetch(`${url}/market`)
    await eventually('the line of another second', () => sum() === 21)
    expect(counts()).not.toContain(0)
  })
})

describe('of a page', () => {
  test('the one origin may read the refusal', async () => {
    const { url } = await setUp()
    const { headers } = await fetch(`${url}/market`, { headers: { Origin: ORIGIN } })
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After')
  })

  test('its preflight is answered as the app answers it, so that it may ask and read the refusal', async () => {
    const server = await startServer(
      serverConfig({ DATA_DIR: await temporaryDirectory() }),
      createLogLines().logger,
    )
    onTestFinished(() => server.stop())
    const { url, taken } = await setUp()
    const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' }
    const ask = async (at: string) => {
      const response = await fetch(`${at}/market`, { method: 'OPTIONS', headers })
      const cors = [...response.headers].filter(([name]) => /^(?:access-control-|vary$)/.test(name))
      return { status: response.status, cors }
    }
    const answer = await ask(url)
    expect(answer).toEqual(await ask(`http://127.0.0.1:${server.port}`))
    expect(answer).toMatchObject({ status: 204, cors: { length: 6 } })
    expect(taken).toEqual([])
  })

  test.each(['https://evil.example', 'null'])('the preflight of %s is refused', async (origin) => {
    const { url } = await setUp()
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'GET' }
    expect((await fetch(`${url}/market`, { method: 'OPTIONS', headers })).status).toBe(503)
  })

  test.each(['https://evil.example', 'null'])('%s may not', async (origin) => {
    const { url, taken } = await setUp()
    const response = await fetch(`${url}/market`, { headers: { Origin: origin } })
    expect(response.status).toBe(503)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(taken).toEqual([])
  })
})

describe('as many under way as there may be', () => {
  /** An app that answers when told. */
  async function setUpHolding(maxUnderWay: number) {
    const held: (() => void)[] = []
    const app: RequestListener = (_req, res) => {
      held.push(() => res.end())
    }
    const { url } = await setUp({ maxUnderWay, isLate: () => false, app })
    const ask = () => handled(fetch(`${url}/market`).then(({ status }) => status))
    return { url, held, ask }
  }

  test('further ones are refused until one is answered', async () => {
    const { ask, held } = await setUpHolding(2)
    const answers = [ask(), ask()]
    await eventually('both to be under way', () => held.length === 2)
    expect(await ask()).toBe(503)
    held.shift()?.()
    expect(await Promise.race(answers)).toBe(200)
    const third = ask()
    await eventually('the third to be taken', () => held.length === 2)
    for (const release of held) release()
    expect(await Promise.all([...answers, third])).toEqual([200, 200, 200])
  })

  test('reads leave a tenth of the room to orders', async () => {
    const { url, ask, held } = await setUpHolding(10)
    const reads = Array.from({ length: 9 }, ask)
    await eventually('nine reads to be under way', () => held.length === 9)
    expect([await ask(), (await fetch(`${url}/market`, { method: 'HEAD' })).status]).toEqual([503, 503])
    const order = handled(fetch(`${url}/orders`, { method: 'POST' }).then(({ status }) => status))
    await eventually('the order to be taken', () => held.length === 10)
    expect((await fetch(`${url}/orders`, { method: 'POST' })).status).toBe(503)
    for (const release of held) release()
    expect(await Promise.all([...reads, order])).toEqual(Array(10).fill(200))
  })

  /** Requests by client, behind a proxy, that the app takes and holds. */
  async function setUpClients(maxUnderWay: number, maxUnderWayPerClient: number) {
    const taken: (string | undefined)[] = []
    let arrived = 0
    const app: Answer = (req) => {
      taken.push(req.headers['x-forwarded-for']?.toString())
      req.resume().once('end', () => arrived++)
    }
    const { url } = await setUp({
      maxUnderWay,
      maxUnderWayPerClient,
      isLate: () => false,
      trustProxy: 1,
      app,
    })
    /** @param body what is sent of nine bytes @returns the refusal; never resolves for a request that is held */
    function post(client: string, body: string) {
      const headers = { 'X-Forwarded-For': client, 'content-length': 9 }
      const sent = send(`${url}/orders`, { method: 'POST', headers, agent: false })
      // The server ends with the test.
      sent.on('error', () => undefined)
      onTestFinished(() => {
        sent.destroy()
      })
      sent.write(body)
      return new Promise<{ statusCode: number | undefined; code: string }>((resolve, reject) => {
        sent.once('response', (response) => {
          text(response)
            .then((answer) => problemSchema.parse(JSON.parse(answer)))
            .then(({ code }) => resolve({ statusCode: response.statusCode, code }), reject)
        })
      })
    }
    /** Posts whole requests of these clients, one after the other, each of which takes a place. */
    async function fill(...clients: string[]) {
      for (const client of clients) {
        const before = arrived
        void post(client, WHOLE)
        await eventually('its body to have arrived', () => arrived === before + 1)
      }
    }
    return { post, fill, taken }
  }

  const WHOLE = '123456789'

  test('one client has its share of them, and others the rest', async () => {
    const { post, fill } = await setUpClients(4, 2)
    await fill('192.0.2.1', '192.0.2.1')
    expect(await post('192.0.2.1', WHOLE)).toEqual({ statusCode: 429, code: 'too-many-at-once' })
    await fill('192.0.2.2', '192.0.2.3')
    expect((await post('192.0.2.4', WHOLE)).statusCode).toBe(503)
  })

  test('one site, an IPv6 /48, has four clients’ share of them', async () => {
    const { post, fill } = await setUpClients(100, 1)
    await fill(...['100', '200', '300', '400'].map((net) => `2001:db8:1:${net}::1`))
    expect(await post('2001:db8:1:500::1', WHOLE)).toEqual({ statusCode: 429, code: 'too-many-at-once' })
    await fill('2001:db8:2:100::1')
  })

  test('half-sent requests hold none', async () => {
    const { post, fill, taken } = await setUpClients(2, 1)
    for (let n = 1; n <= 8; n++) {
      void post('192.0.2.1', 'h')
      await eventually('it to be with the app', () => taken.length === n)
    }
    await fill('192.0.2.1', '192.0.2.2')
    expect((await post('192.0.2.3', WHOLE)).statusCode).toBe(503)
  })

  test('one whose caller has gone is none of them', async () => {
    const { url, ask, held } = await setUpHolding(1)
    const gone = new AbortController()
    const left = handled(fetch(`${url}/market`, { signal: gone.signal }))
    await eventually('it to be under way', () => held.length === 1)
    gone.abort()
    await expect(left).rejects.toThrow()
    await eventually('another to be taken', async () => {
      const asked = ask()
      const isHeld = await Promise.race([
        asked.then(() => false),
        eventually('the held', () => held.length === 2),
      ])
      for (const release of held) release()
      await asked
      return isHeld
    })
  })
})

describe('many at once, each of which takes a while', () => {
  const WORK_MS = 5
  const CLIENTS = 200

  /** The real signal, and an app that keeps the event loop busy. */
  async function setUpBusy() {
    const app: RequestListener = (_req, res) => {
      const until = performance.now() + WORK_MS
      while (performance.now() < until);
      res.end()
    }
    const { url } = await setUp({ app, isLate: createQueueingDelay({ maxWaitMs: 20 }) })
    const client = createKeepAliveClient()
    const ask = async (path: string) => Number((await client(url + path)).statusCode)
    return { ask }
  }

  test('some are answered and the others refused, health none; and all are answered again once it is over', async () => {
    const { ask } = await setUpBusy()
    // The event loop accepts one new connection a turn, and reads all open ones in one turn.
    await Promise.all(Array.from({ length: CLIENTS }, () => ask('/health')))
    const paths = Array.from({ length: CLIENTS }, (_, index) => (index % 10 === 0 ? '/health' : '/market'))
    const statuses = await Promise.all(
      paths.map(async (path) => ({ isHealth: path === '/health', status: await ask(path) })),
    )
    const of = (isHealth: boolean, status: number) =>
      statuses.filter((each) => each.isHealth === isHealth && each.status === status).length
    expect(of(true, 200)).toBe(CLIENTS / 10)
    expect(of(false, 200)).toBeGreaterThan(0)
    expect(of(false, 503)).toBeGreaterThan(0)
    expect(of(false, 200) + of(false, 503)).toBe(CLIENTS - CLIENTS / 10)
    await eventually('five answers in turn', async () => {
      for (let count = 0; count < 5; count++) if ((await ask('/market')) !== 200) return false
      return true
    })
  })
})

describe('the connection of a refused request', () => {
  /** Many times as long as a refusal takes. */
  const A_WHILE_MS = 100

  /** Keeps the event loop from resting until the returned function is called. */
  function keepBusy(): () => void {
    let isBusy = true
    const spin = () => {
      if (isBusy) setImmediate(spin)
    }
    spin()
    const rest = () => {
      isBusy = false
    }
    onTestFinished(rest)
    return rest
  }

  /** Tells what becomes of connections. */
  function recordBackpressure(options: { hasWaitedOut: boolean }) {
    const left: unknown[] = []
    const pause = (socket: unknown) => left.push(socket)
    const pauseFor = (socket: unknown, ms: number) => left.push({ socket, ms })
    return { left, backpressure: { pause, pauseFor, hasWaitedOut: () => options.hasWaitedOut } }
  }

  test('is left unread until the process has rested', async () => {
    const { url, observed } = await setUp({
      backpressure: createBackpressure({ maxPauseMs: 600_000, maxRatePauseMs: 600_000, maxPaused: 10 }),
    })
    const ask = createKeepAliveClient({ maxSockets: 1 })
    const rest = keepBusy()
    await ask(`${url}/market`)
    const next = ask(`${url}/market`)
    await sleep(A_WHILE_MS)
    expect(observed).toHaveLength(1)
    rest()
    await next
    expect(observed).toHaveLength(2)
  })

  test('is left once for each refusal after which it stays, and read on otherwise', async () => {
    const { left, backpressure } = recordBackpressure({ hasWaitedOut: false })
    let isLate = true
    const { url } = await setUp({ isLate: () => isLate, backpressure })
    const ask = createKeepAliveClient()
    expect((await ask(`${url}/market`)).statusCode).toBe(503)
    await eventually('it to be left', () => left.length === 1)
    // One that ends with its answer.
    expect((await fetch(`${url}/market`, { headers: { connection: 'close' } })).status).toBe(503)
    expect((await ask(`${url}/health`)).statusCode).toBe(200)
    isLate = false
    expect((await ask(`${url}/market`)).statusCode).toBe(200)
    expect(left).toHaveLength(1)
  })

  test('is refused what has waited unread for all the time', async () => {
    const { backpressure } = recordBackpressure({ hasWaitedOut: true })
    const { url, taken, probed } = await setUp({ isLate: () => false, backpressure })
    expect((await fetch(`${url}/market`)).status).toBe(503)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect((await fetch(`${url}/relay`, { headers: TOKEN })).status).toBe(200)
    expect([taken, probed]).toEqual([['GET /relay'], ['GET /health']])
  })

  test('serves on after a body that came too late', async () => {
    let isLate = true
    const backpressure = createBackpressure({ maxPauseMs: 600_000, maxRatePauseMs: 600_000, maxPaused: 10 })
    const { url, taken } = await setUp({ isLate: () => isLate, backpressure })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const refused = send(`${url}/orders`, { method: 'POST', agent, headers: { 'content-length': 200_000 } })
    refused.flushHeaders()
    const [answer] = await once(refused, 'response')
    expect(answer.statusCode).toBe(503)
    answer.resume()
    isLate = false
    refused.end('x'.repeat(200_000))
    await once(refused, 'close')
    const asked = send(`${url}/market`, { agent }).end()
    const [next] = await once(asked, 'response')
    expect([next.statusCode, asked.reusedSocket, taken]).toEqual([200, true, ['GET /market']])
  })

  const timeouts = {
    keepAliveTimeoutMs: 65_000,
    headersTimeoutMs: 15_000,
    requestTimeoutMs: 30_000,
  }

  test('is read again before the seconds of Retry-After are over, and before Node ends it', () => {
    const both = (changed: Partial<typeof timeouts>) => maxPauseMs({ ...timeouts, ...changed })
    expect(both({})).toEqual({ maxPauseMs: 4_500, maxRatePauseMs: 13_500 })
    expect(both({ keepAliveTimeoutMs: 1_000 })).toEqual({ maxPauseMs: 900, maxRatePauseMs: 900 })
    expect(both({ headersTimeoutMs: 2_000 })).toEqual({ maxPauseMs: 1_800, maxRatePauseMs: 1_800 })
    expect(both({ requestTimeoutMs: 3_000 })).toEqual({ maxPauseMs: 2_700, maxRatePauseMs: 2_700 })
    expect(both({ requestTimeoutMs: 6_000 })).toEqual({ maxPauseMs: 4_500, maxRatePauseMs: 5_400 })
  })

  test('is read on when it is a proxy’s', () => {
    const http = { ...timeouts, maxConnections: 100 }
    expect(backpressureFor({ ...http, trustProxy: 1 })).toBeUndefined()
    expect(backpressureFor({ ...http, trustProxy: 0 })).toBeDefined()
  })
})

describe('a client over its rate', () => {
  const recordedBackpressure = () => ({
    pause: () => undefined,
    pauseFor: () => undefined,
    hasWaitedOut: () => false,
  })
  const RATE = { rateLimitPerMinute: 2, isLate: () => false }

  test('is refused before the app, and reads when to come back', async () => {
    const { url, taken, observed } = await setUp(RATE)
    for (const left of [1, 0]) {
      const response = await fetch(`${url}/market`)
      expect(response.status).toBe(200)
      expect(response.headers.get('ratelimit')).toContain(`r=${left};`)
      expect(response.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60')
    }
    const refused = await fetch(`${url}/market`, { headers: { Origin: ORIGIN } })
    expect(refused.status).toBe(429)
    expect(problemSchema.parse(await refused.json())).toMatchObject({
      code: 'rate-limited',
      instance: '/market',
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit')).toContain('r=0')
    expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(taken).toHaveLength(2)
    expect(observed).toMatchObject([{ route: 'unmatched', status: 429, code: 'rate-limited' }])
  })

  test('is left unread for nine tenths of that, on each connection that stays', async () => {
    const left: number[] = []
    const backpressure = {
      pause: () => expect.unreachable('it is not late'),
      pauseFor: (_socket: unknown, ms: number) => left.push(ms),
      hasWaitedOut: () => false,
    }
    const { url } = await setUp({ ...RATE, backpressure })
    const ask = createKeepAliveClient()
    for (let n = 0; n < 2; n++) await ask(`${url}/market`)
    expect(left).toEqual([])
    const { headers } = await ask(`${url}/market`)
    await eventually('it to be left', () => left.length === 1)
    expect(left).toEqual([0.9 * 1_000 * Number(headers['retry-after'])])
    await fetch(`${url}/market`, { headers: { connection: 'close' } })
    await ask(`${url}/health`)
    expect(left).toHaveLength(1)
  })

  test('has its probes answered, and is left unread when they come too fast', async () => {
    const left: number[] = []
    const backpressure = {
      pause: () => expect.unreachable('it is not late'),
      pauseFor: (_socket: unknown, ms: number) => left.push(ms),
      hasWaitedOut: () => false,
    }
    const { url } = await setUp({ rateLimitPerMinute: 1, backpressure })
    const ask = createKeepAliveClient()
    for (let n = 0; n < 1_000; n++) expect((await ask(`${url}/health`)).statusCode).toBe(200)
    expect(left).toEqual([])
    expect((await ask(`${url}/health`)).statusCode).toBe(200)
    await eventually('it to be left', () => left.length === 1)
  })

  test('has its preflights answered, and is left unread after them', async () => {
    const left: unknown[] = []
    const backpressure = {
      pause: () => expect.unreachable('it is not late'),
      pauseFor: (socket: unknown) => left.push(socket),
      hasWaitedOut: () => false,
    }
    const { url, taken } = await setUp({ ...RATE, backpressure })
    const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' }
    const preflight = () => fetch(`${url}/market`, { method: 'OPTIONS', headers })
    for (let n = 0; n < 2; n++) expect((await preflight()).status).toBe(200)
    expect(left).toEqual([])
    expect((await preflight()).status).toBe(204)
    expect(taken).toHaveLength(2)
    await eventually('it to be left', () => left.length === 1)
  })

  test.each([
    ['is closed with one answer', recordedBackpressure, 1],
    ['is a proxy’s, and each is answered', () => undefined, 9],
  ])('whose connection pipelines behind a refusal %s', async (_what, backpressureOf, refusals) => {
    const { url, observed, taken } = await setUp({ ...RATE, backpressure: backpressureOf() })
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) })
    onTestFinished(() => {
      socket.destroy()
    })
    socket.on('error', () => undefined).resume()
    // The last one ends the connection where none before has.
    const one = 'POST /orders HTTP/1.1\r\nHost: a\r\n'
    socket.write(`${`${one}\r\n`.repeat(9)}${one}Connection: close\r\n\r\n`)
    await once(socket, 'close')
    expect(taken).toHaveLength(1)
    expect(observed.map(({ status }) => status)).toEqual(Array(refusals).fill(429))
  })

  test('may still probe', async () => {
    const { url, probed } = await setUp(RATE)
    const statuses = async (path: string) => {
      const answers: number[] = []
      for (let n = 0; n < 3; n++) answers.push((await fetch(url + path)).status)
      return answers
    }
    expect(await statuses('/market')).toEqual([200, 200, 429])
    expect(await statuses('/health')).toEqual([200, 200, 200])
    expect(probed).toHaveLength(3)
  })

  test('pays ten for a post, before it is answered', async () => {
    const { url } = await setUp({ rateLimitPerMinute: 12, isLate: () => false })
    const post = async () => {
      const { status, headers } = await fetch(`${url}/orders`, { method: 'POST' })
      return [status, headers.get('ratelimit')?.split(';')[1]]
    }
    expect([await post(), await post(), await post()]).toEqual([
      [200, 'r=2'],
      [200, 'r=0'],
      [429, 'r=0'],
    ])
  })

  test('is taken when it shows the relay token, which counts for nothing', async () => {
    const { url } = await setUp(RATE)
    const ask = async (headers: Record<string, string>) => (await fetch(`${url}/relay`, { headers })).status
    for (let n = 0; n < 5; n++) expect(await ask(TOKEN)).toBe(200)
    expect([await ask({}), await ask({}), await ask({})]).toEqual([200, 200, 429])
    expect(await ask(TOKEN)).toBe(200)
  })

  test('posts results of runs, of which those that fail count', async () => {
    let status = 200
    const app: RequestListener = (_req, res) => {
      res.statusCode = status
      res.end()
    }
    const { url } = await setUp({ ...RATE, app })
    const post = async () => (await fetch(`${url}/runs/1/result`, { method: 'POST' })).status
    for (let n = 0; n < 5; n++) expect(await post()).toBe(200)
    status = 503
    for (let n = 0; n < 5; n++) expect(await post()).toBe(503)
    status = 401
    expect([await post(), await post(), await post()]).toEqual([401, 429, 429])
  })

  test('has its results of runs counted before they are answered', async () => {
    const { url } = await setUp({ ...RATE, app: () => {} })
    const hungUp = new AbortController()
    const post = () => fetch(`${url}/runs/1/result`, { method: 'POST', signal: hungUp.signal })
    const answers = Array.from({ length: 3 }, post)
    expect((await Promise.race(answers)).status).toBe(429)
    hungUp.abort()
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toContain('rejected')
    expect((await fetch(`${url}/runs/1/result`, { method: 'POST' })).status).toBe(429)
  })

  test('is the one that the proxy names', async () => {
    const { url } = await setUp({ ...RATE, trustProxy: 1 })
    const ask = async (forwarded: string) =>
      (await fetch(`${url}/market`, { headers: { 'X-Forwarded-For': forwarded } })).status
    for (const claimed of ['10.0.0.1', '10.0.0.2']) expect(await ask(`${claimed}, 192.0.2.1`)).toBe(200)
    expect(await ask('10.0.0.3, 192.0.2.1')).toBe(429)
    expect(await ask('192.0.2.1, 192.0.2.2')).toBe(200)
  })
})

test('a refusal has the headers of any other problem', async () => {
  const config = serverConfig({ DATA_DIR: await temporaryDirectory(), RATE_LIMIT_PER_MINUTE: '1' })
  const server = await startServer(config, createLogLines().logger)
  onTestFinished(() => server.stop())
  const url = `http://127.0.0.1:${server.port}`
  const headersOf = async (path: string) => {
    const response = send(url + path, { headers: { Origin: ORIGIN, ...TOKEN } }).end()
    const [answer] = await once(response, 'response')
    const { code } = problemSchema.parse(JSON.parse(await text(answer)))
    const { date, etag, 'content-length': length, 'x-request-id': id, ...same } = answer.headers
    return { code, headers: same }
  }
  const refused = await eventually('a refusal', async () => {
    const found = await headersOf('/nothing')
    return found.code === 'rate-limited' && found
  })
  const other = await headersOf('/relay/nothing/there')
  expect(other.code).toBe('not-found')
  const common = other.headers
  const { ratelimit, 'ratelimit-policy': policy, 'retry-after': seconds, ...rest } = refused.headers
  expect([ratelimit, policy, seconds]).toEqual(Array(3).fill(expect.any(String)))
  expect(rest).toEqual(common)
})
