// The employees of one office, who share an address, with the server's limits as they are by default.
import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { answerFast, read } from '../../../src/server/http/fastRoutes.js'
import { shedLoad } from '../../../src/server/http/overload.js'
import { createReaders } from '../../../src/server/http/readers.js'
import { createKeepAliveClient } from '../../support/keepAliveClient.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'
import { SERVER_ENVIRONMENT, serverConfig } from '../../support/serverEnvironment.js'

const EMPLOYEES = 500
/** What a page asks in a minute with an order under way, if its user keeps it from resting. */
const POLLS = 70
const SECONDS = 60

/** The door of a server whose `/market` changes when the test says. */
async function setUp(app: RequestListener, env: Record<string, string> = {}) {
  const { http } = serverConfig(env)
  const { logger } = createLogLines()
  const shared = { ...http, logger, observe: () => undefined, stopping: new AbortController().signal }
  let view = { prices: 1 }
  const routes = [read('/market', z.strictObject({ prices: z.number() }), async () => view)]
  let [nowMs, paused] = [0, 0]
  const count = () => {
    paused++
  }
  const { listener } = shedLoad(answerFast(app, { ...shared, routes }), {
    readers: createReaders(),
    ...shared,
    authToken: SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN,
    isLate: () => false,
    backpressure: { pause: count, pauseFor: count, hasWaitedOut: () => false },
    now: () => nowMs,
  })
  return {
    url: await startRawServer(listener),
    paused: () => paused,
    pass(ms: number) {
      nowMs += ms
    },
    change() {
      view = { ...view }
    },
  }
}

const answerAll: RequestListener = (_req, res) => {
  res.end()
}

test('an office of 500 behind one address has a minute’s polls answered, though every view changes, and an order of each', async () => {
  const { url, pass, paused } = await setUp(answerAll)
  const ask = createKeepAliveClient({ maxSockets: EMPLOYEES })
  const statuses = new Map<number | undefined, number>()
  async function count(path: string, method: 'GET' | 'POST') {
    const { statusCode } = await ask(url + path, method)
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  const perSecond = Math.ceil((EMPLOYEES * POLLS) / SECONDS)
  // All of them order in the same second.
  await Promise.all(Array.from({ length: EMPLOYEES }, () => count('/orders', 'POST')))
  for (let second = 0; second < SECONDS; second++) {
    await Promise.all(Array.from({ length: perSecond }, () => count('/orders/1', 'GET')))
    pass(1_000)
  }
  expect(statuses).toEqual(new Map([[200, EMPLOYEES + SECONDS * perSecond]]))
  expect(paused()).toBe(0)
}, 120_000)

test('an office is never refused a view that has not changed', async () => {
  const { url, change } = await setUp(answerAll, { RATE_LIMIT_PER_MINUTE: '2' })
  const ask = createKeepAliveClient({ maxSockets: 50 })
  const all = await Promise.all(Array.from({ length: 500 }, () => ask(`${url}/market`)))
  expect(new Set(all.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  const headers = { 'If-None-Match': all[0]?.headers.etag ?? '' }
  for (let n = 0; n < 10; n++) expect((await fetch(`${url}/market`, { headers })).status).toBe(304)
  // What it may cost in a minute is one view more.
  change()
  expect((await ask(`${url}/market`)).statusCode).toBe(200)
  change()
  expect((await ask(`${url}/market`)).statusCode).toBe(429)
})

test('an office that has spent its rate is told by Retry-After when to come back', async () => {
  const { url, pass } = await setUp(answerAll, { RATE_LIMIT_PER_MINUTE: '20' })
  const ask = createKeepAliveClient({ maxSockets: 1 })
  for (let n = 0; n < 2; n++) expect((await ask(`${url}/orders`, 'POST')).statusCode).toBe(200)
  pass(40_000)
  const { statusCode, headers } = await ask(`${url}/orders`, 'POST')
  expect([statusCode, headers['retry-after']]).toEqual([429, '20'])
  pass(20_000)
  expect((await ask(`${url}/orders`, 'POST')).statusCode).toBe(200)
})
