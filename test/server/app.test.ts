import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ChainUnavailableError } from '../../src/chain/errors.js'
import type { Hex } from '../../src/protocol/hex.js'
import { createApp } from '../../src/server/app.js'
import { createReaders } from '../../src/server/http/clients.js'
import { Problem } from '../../src/server/http/errors.js'
import { Secret } from '../../src/service/secret.js'
import { createLogLines } from '../support/logLines.js'
import { startRawServer } from '../support/rawServer.js'
import { RUN_SECRET, SERVER_ENVIRONMENT, serverConfig } from '../support/serverEnvironment.js'

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN
const PINO_LEVELS = { warn: 40, error: 50 }
const USDC: Hex = `0x${'77'.repeat(20)}`

/** A view that nothing here asks for. */
async function unanswered(): Promise<never> {
  throw new ChainUnavailableError(1)
}

interface Options {
  readonly env?: Record<string, string>
  readonly enclaveKey?: () => Promise<never>
  readonly wallet?: (address: Hex) => Promise<never>
}

function setUp(options: Options = {}) {
  const config = serverConfig(options.env)
  const log = createLogLines()
  const stopping = new AbortController()
  let keysGiven = 0
  const app = createApp({
    http: config.http,
    readers: createReaders(),
    logger: log.logger,
    observe: () => undefined,
    stopping: stopping.signal,
    relay: {
      authToken: config.relay.authToken.reveal(),
      verify: () => expect.unreachable('no authorization is posted'),
      relay: { post: unanswered, find: unanswered },
      waitMs: config.relay.waitMs,
      stopping: stopping.signal,
    },
    runs: {
      secret: new Secret(RUN_SECRET),
      results: { receiveResult: unanswered, receiveNotice: unanswered },
    },
    health: {
      version: '1.2.3',
      chainId: config.chain.chainId,
      contracts: config.chain.contracts,
      relayers: [config.enclave.signer],
      symbols: () => ['AAPL'],
      checks: unanswered,
    },
    intake: {
      enclaveKey:
        options.enclaveKey ??
        (async () => {
          keysGiven++
          return {
            publicKey: config.enclave.intentPublicKey,
            chainId: config.chain.chainId,
            escrow: config.chain.contracts.orderEscrow,
            scheme: 'service-ecies-v1',
            usdc: USDC,
          }
        }),
      orders: { receive: unanswered },
      openings: { receive: unanswered },
      cancels: { receive: unanswered },
      orderStatus: unanswered,
      policy: { publish: unanswered },
      resolutions: { apply: unanswered },
      policyVersion: unanswered,
      bodyLimitBytes: config.http.bodyLimitBytes,
    },
    timeline: unanswered,
    status: {
      wallet: options.wallet ?? unanswered,
      institution: unanswered,
      compliance: unanswered,
      market: unanswered,
      marketBars: unanswered,
      marketClock: unanswered,
    },
  })
  return { app, log, stopping, config, keysGiven: () => keysGiven }
}

describe('GET /health', () => {
  test('answers what the server is set up for', async () => {
    const { app, config } = setUp()
    const response = await request(app).get('/health')
    expect(response.status).toBe(200)
    expect(response.body).toEqual({
      status: 'ok',
      version: '1.2.3',
      chainId: 31_337,
      contracts: config.chain.contracts,
      symbols: ['AAPL'],
      relayer: config.enclave.signer,
      relayers: [config.enclave.signer],
    })
  })

  test('answers 304 to a page too, whose fetch adds Cache-Control: no-cache', async () => {
    const { app } = setUp()
    const { headers } = await request(app).get('/health')
    const conditional = {
      'If-None-Match': String(headers.etag),
      'Cache-Control': 'no-cache',
      Pragma: 'no-cache',
    }
    expect((await request(app).get('/health').set(conditional)).status).toBe(304)
    expect((await request(app).head('/health')).headers.etag).toBe(headers.etag)
  })
})

describe('the origin check', () => {
  test.each([
    'null',
    '',
    'http://localhost:5174',
    'https://localhost:5173',
    'http://localhost:5173/',
    'http://LOCALHOST:5173',
    'http://localhost:5173.evil.example',
    'http://evil.example/http://localhost:5173',
    'http://localhost:5173, http://localhost:5173',
    'http://localhost:5173@evil.example',
    'http://xlocalhost:5173',
  ])('refuses Origin "%s" before a handler runs', async (origin) => {
    const { app, keysGiven } = setUp()
    const response = await request(app).get('/enclave-key').set('Origin', origin)
    expect(response.status).toBe(403)
    expect(response.body).toMatchObject({ code: 'origin-not-allowed', status: 403 })
    expect(response.headers.vary).toContain('Origin')
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
    expect(keysGiven()).toBe(0)
  })

  test.each(['/health', '/enclave-key'])(
    'lets the one origin in to %s, without credentials',
    async (path) => {
      const response = await request(setUp().app).get(path).set('Origin', ORIGIN)
      expect(response.status).toBe(200)
      expect(response.headers['access-control-allow-origin']).toBe(ORIGIN)
      expect(response.headers['access-control-allow-credentials']).toBeUndefined()
      expect(response.headers['access-control-expose-headers']).toContain('Retry-After')
      expect(response.headers.vary).toContain('Origin')
    },
  )

  test('answers the preflight of the one origin', async () => {
    const response = await request(setUp().app)
      .options('/orders')
      .set('Origin', ORIGIN)
      .set('Access-Control-Request-Method', 'POST')
      .set('Access-Control-Request-Headers', 'content-type')
    expect(response.status).toBe(204)
    expect(response.headers['access-control-allow-origin']).toBe(ORIGIN)
    expect(response.headers['access-control-allow-methods']).toBe('GET,POST')
    expect(response.headers['access-control-allow-headers']).toContain('Content-Type')
    expect(response.headers['access-control-allow-headers']).not.toContain('Authorization')
    expect(response.headers['access-control-max-age']).toBe('600')
  })

  test('refuses the preflight of another', async () => {
    const response = await request(setUp().app)
      .options('/orders')
      .set('Origin', 'https://evil.example')
      .set('Access-Control-Request-Method', 'POST')
    expect(response.status).toBe(403)
    expect(response.headers['access-control-allow-methods']).toBeUndefined()
  })
})

describe('the relay token', () => {
  const token = SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN

  test.each(['/relay', '/relay/', `/relay/0x${'00'.repeat(32)}`, '/relay/a/b'])('guards %s', async (path) => {
    expect((await request(setUp().app).get(path)).status).toBe(401)
  })

  test('lets the token through, its scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const response = await request(setUp().app)
        .get('/relay/nothing/here')
        .set('Authorization', `${scheme} ${token}`)
      expect(response.status).toBe(404)
    }
  })
})

describe('paths and methods', () => {
  test.each(['/canary', '/orders/canary', `/orders/0x${'ca'.repeat(31)}`, '/relay/canary', '/%c0canary'])(
    'the text of a caller in %s is not repeated',
    async (path) => {
      for (const method of ['get', 'put'] as const) {
        const response = await request(setUp().app)[method](path)
        expect(response.status).toBeGreaterThanOrEqual(400)
        expect(response.body.instance).toBe('')
        expect(response.text).not.toMatch(/canary|caca/)
      }
    },
  )
})

describe('X-Request-Id', () => {
  test("is the caller's own when it is sane, in header, problem and log", async () => {
    const { app, log } = setUp()
    const response = await request(app).get('/nothing').set('X-Request-Id', 'caller.1_2-3')
    expect(response.headers['x-request-id']).toBe('caller.1_2-3')
    expect(response.body.requestId).toBe('caller.1_2-3')
    expect(log.lines().at(-1)).toMatchObject({ requestId: 'caller.1_2-3', code: 'not-found' })
  })

  test.each(['', ' ', 'a b', 'a"b', 'a{b}', '<script>', 'ä', 'x'.repeat(129)])(
    'is a new one for "%s"',
    async (id) => {
      const response = await request(setUp().app)
        .get('/health')
        .set('X-Request-Id', Buffer.from(id).toString('latin1'))
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

/** A connection whose one write is one read of the server: its requests all come in the same turn. */
async function pipeline(app: RequestListener, requests: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(await startRawServer(app)).port) })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(requests)
  return socket
}

test('a site, an IPv6 /48, that pipelines many requests delays another client by sixteen of them', async () => {
  const [many, one]: [Hex, Hex] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
  const asked: Hex[] = []
  const { app } = setUp({
    env: { TRUST_PROXY: '1' },
    async wallet(address) {
      asked.push(address)
      return unanswered()
    },
  })
  const head = (wallet: Hex, client: string) =>
    `GET /wallet/${wallet} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}`
  const ofSite = Array.from({ length: 99 }, (_, n) => `${head(many, `2001:db8:1:${n}00::1`)}\r\n\r\n`)
  const other = `${head(one, '192.0.2.9')}\r\nConnection: close\r\n\r\n`
  const answers = await text(await pipeline(app, ofSite.join('') + other))
  expect(answers.match(/HTTP\/1\.1 503 /g)).toHaveLength(100)
  expect([asked.length, asked.indexOf(one)]).toEqual([100, 16])
})

test('a connection that pipelines more than ten thousand requests is closed', async () => {
  const { app } = setUp()
  const socket = await pipeline(app, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(30_000))
  let answers = 0
  socket.setEncoding('latin1').on('data', (part: string) => {
    answers += part.match(/HTTP\/1\.1 /g)?.length ?? 0
  })
  await new Promise((resolve) => socket.once('close', resolve))
  expect(answers).toBeLessThan(30_000)
})

describe('failures', () => {
  test('an unexpected one is a fixed body; nothing of the cause leaks, to caller or log', async () => {
    const failing = async () => {
      throw Object.assign(new Error('canary-message 0xdeadbeef'), { canary: 'canary-member', status: 418 })
    }
    const { app, log } = setUp({ enclaveKey: failing })
    const response = await request(app).get('/enclave-key').set('X-Request-Id', 'r1')
    expect(response.status).toBe(500)
    expect(response.body).toEqual({
      type: '/errors#internal-error',
      title: 'Internal error',
      status: 500,
      detail: 'Try again later; quote the requestId when you report it.',
      instance: '/enclave-key',
      code: 'internal-error',
      requestId: 'r1',
    })
    expect(response.text + JSON.stringify(response.headers) + log.text()).not.toContain('canary')
    expect(log.lines()).toContainEqual(
      expect.objectContaining({
        requestId: 'r1',
        errorName: 'Error',
        errorStack: expect.stringContaining('app.test'),
      }),
    )
  })

  test.each([
    ['error', 'internal-error'],
    ['error', 'enclave-failed'],
    ['error', 'storage-unavailable'],
    ['error', 'relayer-underfunded'],
    ['warn', 'chain-unavailable'],
    ['warn', 'market-unavailable'],
    ['warn', 'relay-overloaded'],
    ['warn', 'enclave-busy'],
    ['warn', 'intake-full'],
    ['warn', 'shutting-down'],
    ['warn', 'enclave-timeout'],
    [undefined, 'would-revert'],
  ] as const)('is logged at level %s: %s', async (level, code) => {
    const failing = async () => {
      throw new Problem(code)
    }
    const { app, log } = setUp({ enclaveKey: failing })
    await request(app).get('/enclave-key')
    const levels = log.lines().flatMap(({ msg, level }) => (msg === 'request failed' ? [level] : []))
    expect(levels).toEqual(level === undefined ? [] : [PINO_LEVELS[level]])
  })
})

describe('the request log', () => {
  test('has one line per request but a probe, with its route template, and nothing that a caller wrote', async () => {
    const { app, log } = setUp()
    await request(app)
      .get('/openapi.json?canary=1')
      .set('Authorization', 'Bearer canary')
      .set('Cookie', 'canary=1')
      .set('User-Agent', 'canary')
    await request(app).get('/health')
    await request(app).get('/canary/canary')
    await request(app).post('/relay').set('Authorization', 'Bearer canary').send({ canary: 'canary' })
    expect(log.lines()).toMatchObject([
      { method: 'GET', route: '/openapi.json', status: 200, msg: 'request' },
      { method: 'GET', route: 'unmatched', status: 404, code: 'not-found' },
      { method: 'POST', route: '/relay', status: 401, code: 'relay-unauthorized' },
    ])
    expect(log.text()).not.toContain('canary')
  })
})

test('every answer tells browsers not to frame, sniff or cache it', async () => {
  for (const path of ['/health', '/nothing']) {
    const { headers } = await request(setUp().app).get(path)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
    expect(headers['cache-control']).toMatch(/no-cache|no-store/)
    expect(headers['x-powered-by']).toBeUndefined()
  }
})
