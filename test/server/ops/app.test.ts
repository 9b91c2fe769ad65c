import request from 'supertest'
import { expect, test } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { Metrics } from '../../../src/server/metrics.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import type { CheckStatus } from '../../../src/server/ops/checks.js'
import { createLogLines } from '../../support/logLines.js'

function setUp(status: CheckStatus = 'healthy') {
  const log = createLogLines()
  const { registry } = new Metrics('1.2.3')
  const app = createOpsApp(async () => ({ status, checks: {} }), registry, log.logger)
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

test('anything else is a problem: 404, and 405 for another method than GET', async () => {
  for (const path of ['/', '/health', '/orders', '/Readyz', '/readyz/', '/metrics/']) {
    const { status, body } = await request(setUp().app).get(path)
    expect([path, status, problemSchema.parse(body).code]).toEqual([path, 404, 'not-found'])
  }
  for (const path of ['/livez', '/readyz', '/metrics']) {
    const { status, headers, body } = await request(setUp().app).post(path)
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(problemSchema.parse(body)).toMatchObject({ code: 'method-not-allowed', instance: path })
  }
})

test('no probe is logged, as they come every few seconds; a defect is', async () => {
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
