import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { createMetrics } from '../../../src/server/metrics.js'
import { createHealthChecks, createOpsApp } from '../../../src/server/ops/app.js'
import type { CheckStatus } from '../../../src/server/ops/checks.js'
import { createLogLines } from '../../support/logLines.js'

function setUp(status: CheckStatus = 'healthy') {
  const log = createLogLines()
  const { registry } = createMetrics('1.2.3')
  const app = createOpsApp({ readiness: async () => ({ status, checks: {} }), registry, logger: log.logger })
  return { app, log, registry }
}

test.each([
  ['healthy', 200],
  ['degraded', 200],
  ['unhealthy', 503],
] as const)('GET /readyz of a server that is %s is %i, with the report either way', async (status, code) => {
  const response = await request(setUp(status).app).get('/readyz')
  expect([response.status, response.body]).toEqual([code, { status, checks: {} }])
  expect(response.headers['cache-control']).toBe('private, no-cache')
  expect(response.headers['retry-after']).toBe(code === 503 ? '5' : undefined)
  expect(response.headers).not.toHaveProperty('etag')
})

test('GET /metrics is Prometheus’ text format', async () => {
  const response = await request(setUp().app).get('/metrics')
  expect(response.status).toBe(200)
  expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(response.text).toContain('trading_build_info{version="1.2.3"} 1\n')
})

describe('anything else', () => {
  test.each(['/', '/health', '/orders', '/Readyz', '/readyz/', '/metrics/'])(
    'at %s is 404, as a problem',
    async (path) => {
      const response = await request(setUp().app).get(path)
      expect(response.status).toBe(404)
      expect(problemSchema.parse(response.body)).toMatchObject({ code: 'not-found' })
    },
  )

  test.each(['/livez', '/readyz', '/metrics'])('than GET at %s is 405', async (path) => {
    const response = await request(setUp().app).post(path)
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(problemSchema.parse(response.body)).toMatchObject({ code: 'method-not-allowed', instance: path })
  })
})

test('is not logged, as probes come every few seconds; a defect is', async () => {
  const { app, log, registry } = setUp()
  await request(app).get('/livez')
  await request(app).get('/nowhere')
  expect(log.text()).toBe('')
  registry.metrics = async () => {
    throw new TypeError('canary')
  }
  const response = await request(app).get('/metrics')
  expect(response.body).toMatchObject({ code: 'internal-error' })
  expect(log.lines()).toMatchObject([{ msg: 'request failed', errorName: 'TypeError' }])
  expect(response.text + log.text()).not.toContain('canary')
})

describe('the health checks', () => {
  const ADDRESS = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'

  function setUp(sharedMs?: number) {
    let looks = 0
    const ask = createHealthChecks({
      async readiness() {
        looks++
        return {
          status: 'degraded',
          checks: {
            chain: { status: 'healthy', reason: null },
            relayer: { status: 'degraded', reason: 'balance-low' },
          },
        }
      },
      accounts: () => [{ address: ADDRESS, balance: 7n, isFunded: true }],
      load: () => ({
        ...{ inFlight: 1, queued: 2, booked: 3n, isKeyShared: false },
        ...{ gasLeft: 60n, reserveLeft: 15n },
      }),
      minBalance: 5n,
      gas: { perDay: 100n, reserve: 20n },
      ...(sharedMs !== undefined && { sharedMs }),
    })
    return { ask, looks: () => looks }
  }

  test('are those of the readiness, and neither load nor bookings are shown', async () => {
    const { asOf, ...shown } = await setUp().ask()
    expect(Math.abs(Date.parse(asOf) - Date.now())).toBeLessThan(60_000)
    expect(shown).toEqual({
      status: 'degraded',
      checks: [
        { name: 'chain', status: 'healthy', reason: null },
        { name: 'relayer', status: 'degraded', reason: 'balance-low' },
      ],
      relayers: [{ address: ADDRESS, balance: 7n }],
      minBalance: 5n,
      gas: { limit: 100n, left: 60n, reserve: 20n, reserveLeft: 15n },
    })
  })

  test('are one look, and the very same object, for any number of callers', async () => {
    const { ask, looks } = setUp()
    const answers = await Promise.all(Array.from({ length: 1_000 }, ask))
    expect(new Set([...answers, await ask()]).size).toBe(1)
    expect(looks()).toBe(1)
  })
})
