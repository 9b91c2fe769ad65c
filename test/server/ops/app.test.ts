import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { createMetrics } from '../../../src/server/metrics.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import type { CheckStatus } from '../../../src/server/ops/check.js'
import { createLogLines } from '../../support/logLines.js'

function setUp(status: CheckStatus = 'healthy') {
  const log = createLogLines()
  const { registry } = createMetrics('1.2.3')
  const app = createOpsApp({ readiness: async () => ({ status, checks: {} }), registry, logger: log.logger })
  return { app, log, registry }
}

test('GET /livez answers while the process does, whatever else is wrong', async () => {
  const response = await request(setUp('unhealthy').app).get('/livez')
  expect([response.status, response.body]).toEqual([200, { status: 'alive' }])
})

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
