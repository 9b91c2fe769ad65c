import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { problemSchema } from '../../../src/protocol/api.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import type { CheckStatus } from '../../../src/server/ops/reasons.js'
import { createLogLines } from '../../support/logLines.js'

function setUp(status: CheckStatus = 'healthy') {
  const log = createLogLines()
  const app = createOpsApp({ readiness: async () => ({ status, checks: {} }), logger: log.logger })
  return { app, log }
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
  expect(response.headers).not.toHaveProperty('etag')
})

describe('anything else', () => {
  test.each(['/', '/health', '/orders', '/Readyz'])('at %s is 404, as a problem', async (path) => {
    const response = await request(setUp().app).get(path)
    expect(response.status).toBe(404)
    expect(problemSchema.parse(response.body)).toMatchObject({ code: 'not-found' })
  })

  test.each(['/livez', '/readyz'])('than GET at %s is 405', async (path) => {
    const response = await request(setUp().app).post(path)
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD'])
    expect(problemSchema.parse(response.body)).toMatchObject({ code: 'method-not-allowed', instance: path })
  })
})

test('is not logged, as probes come every few seconds', async () => {
  const { app, log } = setUp()
  await request(app).get('/livez')
  await request(app).get('/nowhere')
  expect(log.text()).toBe('')
})
