import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Generator, type LoadPlan, startGenerator } from '../../bench/support/load.js'
import { portOf } from '../../src/server/http/listener.js'

/** One request after the other, whatever the number of connections. */
const ANSWER_MS = 20

const TWO = Array.from({ length: 2 }, () => ({ method: 'GET' as const, path: '/' }))

const cleanUp = new AsyncDisposableStack()
let server: Server
let generator: Generator
let plan: Pick<LoadPlan, 'urls' | 'requests'>
let connections = 0

beforeAll(async () => {
  let turn: Promise<unknown> = Promise.resolve()
  server = createServer((request, response) => {
    turn = turn.then(() => sleep(ANSWER_MS))
    void turn.then(() => {
      response.statusCode = request.url === '/busy' ? 503 : 200
      response.end('{}')
    })
  })
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  plan = { urls: [`http://127.0.0.1:${portOf(server)}`], requests: [{ method: 'GET', path: '/' }] }
  generator = startGenerator(cleanUp)
})

afterAll(async () => {
  await cleanUp.disposeAsync()
  server.close()
  server.closeAllConnections()
})

test('a closed loop sends each request once, as connections are free', async () => {
  const requests = Array.from({ length: 10 }, () => ({ method: 'GET' as const, path: '/' }))
  const result = await generator.loadAll({ ...plan, requests, connections: 2, durationMs: null })
  expect(result).toMatchObject({ due: 10, sent: 10, good: 10, failed: 0 })
  expect(result.perSecond).toBeLessThan((1.1 * 1_000) / ANSWER_MS)
})

test('an open loop counts the wait for a connection', async () => {
  // Twice as much as the server can answer, for 20 requests: the last waits for half of that time.
  const result = await generator.loadAll({ ...plan, connections: 1, durationMs: 200, perSecond: 100 })
  expect(result).toMatchObject({ due: 20, sent: 20, good: 20 })
  expect(result.p99Ms).toBeGreaterThanOrEqual(9 * ANSWER_MS)
})

test('a client that waits for an answer leaves its due requests unsent', async () => {
  const result = await generator.load({
    ...plan,
    connections: 1,
    durationMs: 200,
    perSecond: 100,
    clients: {},
  })
  expect(result.due).toBe(20)
  expect(result.sent).toBeLessThanOrEqual(200 / ANSWER_MS + 1)
})

test('every second client opens a connection for each request', async () => {
  const before = connections
  const clients = { addresses: ['127.0.1.1', '127.0.1.2'], halfReconnect: true }
  const { good, sent } = await generator.load({
    ...plan,
    connections: 2,
    durationMs: 800,
    perSecond: 10,
    clients,
  })
  expect(good).toBeGreaterThan(2)
  expect(connections - before).toBe(1 + Math.floor(sent / 2))
})

test('an idle connection that the server ends is opened anew', async () => {
  const before = connections
  server.keepAliveTimeout = 1
  const result = await generator.loadAll({
    ...plan,
    connections: 1,
    durationMs: null,
    requests: TWO,
    perSecond: 0.4,
  })
  server.keepAliveTimeout = 5_000
  expect(result).toMatchObject({ sent: 2, good: 2, failed: 0 })
  expect(connections - before).toBe(2)
})

test('answers that come too late, and refusals, are not good', async () => {
  const requests = [{ method: 'GET' as const, path: '/busy' }]
  const refused = await generator.load({ ...plan, requests, connections: 1, durationMs: 100 })
  expect(refused).toMatchObject({ good: 0, p50Ms: 0 })
  expect(refused.refused).toBe(refused.failed)
  const late = await generator.load({ ...plan, connections: 1, durationMs: 100, usefulMs: ANSWER_MS / 2 })
  expect(late).toMatchObject({ good: 0, refused: 0 })
  await expect(generator.loadAll({ ...plan, requests, connections: 1, durationMs: 100 })).rejects.toThrow(
    'requests failed (503), 0 did not',
  )
})
