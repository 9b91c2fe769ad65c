import express from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { errorHandler } from '../../src/server/http/errors.js'
import { requestId } from '../../src/server/http/middleware.js'
import { readVersion } from '../../src/service/version.js'
import { buildApp } from '../support/builtApp.js'
import { createLogLines } from '../support/logLines.js'
import { SERVER_ENVIRONMENT, serverConfig } from '../support/serverEnvironment.js'

const ORIGIN = SERVER_ENVIRONMENT.FRONTEND_ORIGIN

/** The whole server without a node. */
const setUp = () => buildApp({})

test('/health answers what the server is set up for, and 304 to a page, whose fetch adds Cache-Control: no-cache', async () => {
  const { app } = await setUp()
  const { headers, body } = await request(app).get('/health')
  const { chainId, contracts } = serverConfig().chain
  expect(body).toMatchObject({ status: 'ok', version: readVersion(), symbols: [], chainId, contracts })
  const conditional = { 'If-None-Match': `${headers.etag}`, 'Cache-Control': 'no-cache', Pragma: 'no-cache' }
  expect((await request(app).get('/health').set(conditional)).status).toBe(304)
  expect((await request(app).head('/health')).headers.etag).toBe(headers.etag)
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
    const { app } = await setUp()
    const response = await request(app).get('/enclave-key').set('Origin', origin)
    expect(response.status).toBe(403)
    expect(response.body).toMatchObject({ code: 'origin-not-allowed', status: 403 })
    expect(response.headers.vary).toContain('Origin')
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('lets the one origin in, without credentials, and answers its preflight', async () => {
    const { status, headers } = await request((await setUp()).app)
      .get('/health')
      .set('Origin', ORIGIN)
    expect([status, headers['access-control-allow-origin']]).toEqual([200, ORIGIN])
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    expect(headers['access-control-expose-headers']).toContain('Retry-After')
    expect(headers.vary).toContain('Origin')
    const response = await request((await setUp()).app)
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
})

test('the relay token guards all below /relay, its scheme in any case', async () => {
  const { app } = await setUp()
  for (const path of ['/relay', '/relay/', `/relay/0x${'00'.repeat(32)}`, '/relay/a/b'])
    expect((await request(app).get(path)).status).toBe(401)
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const token = { Authorization: `${scheme} ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}` }
    expect((await request(app).get('/relay/nothing/here').set(token)).status).toBe(404)
  }
})

test.each(['/canary', '/orders/canary', `/orders/0x${'ca'.repeat(31)}`, '/relay/canary', '/%c0canary'])(
  'the text of a caller in %s is not repeated',
  async (path) => {
    for (const method of ['get', 'put'] as const) {
      const response = await request((await setUp()).app)[method](path)
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.body.instance).toBe('')
      expect(response.text).not.toMatch(/canary|caca/)
    }
  },
)

describe('X-Request-Id', () => {
  test("is the caller's own when it is sane, in header, problem and log", async () => {
    const { app, log } = await setUp()
    const response = await request(app).get('/nothing').set('X-Request-Id', 'caller.1_2-3')
    expect(response.headers['x-request-id']).toBe('caller.1_2-3')
    expect(response.body.requestId).toBe('caller.1_2-3')
    expect(log.lines().at(-1)).toMatchObject({ requestId: 'caller.1_2-3', code: 'not-found' })
  })

  test.each(['', ' ', 'a b', 'a"b', 'a{b}', '<script>', 'ä', 'x'.repeat(129)])(
    'is a new one for "%s"',
    async (id) => {
      const response = await request((await setUp()).app)
        .get('/health')
        .set('X-Request-Id', Buffer.from(id).toString('latin1'))
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

test('an unexpected failure is a fixed body; nothing of the cause leaks, to caller or log', async () => {
  const cause = { canary: 'canary-member', status: 418 }
  const log = createLogLines()
  const app = express().use(requestId(), () => {
    throw Object.assign(new Error('canary-message 0xdeadbeef'), cause)
  })
  app.use(errorHandler(log.logger))
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
  const errorStack = expect.stringContaining('app.test')
  expect(log.lines()).toMatchObject([{ requestId: 'r1', errorName: 'Error', errorStack }])
})

test('the log has one line per request but probes and preflights, with its route template, and nothing that a caller wrote', async () => {
  const { app, log } = await setUp()
  await request(app)
    .get('/openapi.json?canary=1')
    .set('Authorization', 'Bearer canary')
    .set('Cookie', 'canary=1')
    .set('User-Agent', 'canary')
  await request(app).get('/health')
  const ofPage = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' }
  expect((await request(app).options('/market').set(ofPage)).status).toBe(204)
  await request(app).get('/canary/canary')
  await request(app).post('/relay').set('Authorization', 'Bearer canary').send({ canary: 'canary' })
  expect(log.lines()).toMatchObject([
    { method: 'GET', route: '/openapi.json', status: 200, msg: 'request' },
    { method: 'GET', route: 'unmatched', status: 404, code: 'not-found' },
    { method: 'POST', route: '/relay', status: 401, code: 'relay-unauthorized' },
  ])
  expect(log.text()).not.toContain('canary')
})

test('every answer tells browsers not to frame, sniff or cache it', async () => {
  for (const path of ['/health', '/nothing']) {
    const { headers } = await request((await setUp()).app).get(path)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
    expect(headers['cache-control']).toMatch(/no-cache|no-store/)
    expect(headers['x-powered-by']).toBeUndefined()
  }
})
