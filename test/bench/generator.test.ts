import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Generator, type LoadPlan, startGenerator } from '../../bench/support/load.js'
import { portOf } from '../../src/server/http/listener.js'

/** One request after the other, whatever the number of connections. */
const ANSWER_MS = 20

const cleanUp = new AsyncDisposableStack()
let server: Server
let generator: Generator
let plan: Pick<LoadPlan, 'urls' | 'requests'>

beforeAll(async () => {
  let turn: Promise<unknown> = Promise.resolve()
  server = createServer((request, response) => {
    turn = turn.then(() => sleep(ANSWER_MS))
    void turn.then(() => {
      response.statusCode = request.url === '/busy' ? 503 : 200
      response.end('{}')
    })
  })
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

test('an open loop counts the wait for a connection', async () => {
  // Twice as much as the server can answer, for 20 requests: the last waits for half of that time.
  const result = await generator.loadAll({ ...plan, connections: 1, durationMs: 200, perSecond: 100 })
  expect(result).toMatchObject({ due: 20, sent: 20, good: 20 })
  expect(result.p99Ms).toBeGreaterThanOrEqual(9 * ANSWER_MS)
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
