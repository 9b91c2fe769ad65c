import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { createHttp } from '../../src/client/http.js'
import { createReader } from '../../src/client/index.js'
import { problem, startApiStandIn, useApi } from '../support/apiStandIn.js'
import { eventually } from '../support/eventually.js'
import { keptAt } from '../support/keptAt.js'
import { FAST } from './clientSetting.js'

const schema = z.object({ fine: z.boolean() })
const api = await useApi()
beforeEach(() => {
  api.requests.length = 0
})

const http = () => createHttp({ serverUrl: `${api.url}/`, timeoutMs: 10_000 })

it.each([['nonsense'], [{ fine: 'yes' }], ['']])('requests refuse %j as an answer', async (body) => {
  api.answerWith(() => ({ body }))
  await expect(http().get('/x', schema)).rejects.toMatchObject({ code: 'unexpected-answer' })
})

it('requests tell a server that cannot be reached', async () => {
  const gone = await startApiStandIn()
  await gone.stop()
  const nobody = createHttp({ serverUrl: gone.url, timeoutMs: 10_000 })
  const message = `${gone.url}/x cannot be reached`
  await expect(nobody.get('/x', schema)).rejects.toMatchObject({ code: 'server-unreachable', message })
  const secret = createHttp({ serverUrl: 'http://me:secret@127.0.0.1:1', timeoutMs: 10_000 })
  await expect(secret.get('/x', schema)).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1\/x /)
})

it('requests leave nothing at a signal that outlives them, and no warning', async () => {
  const onWarning = vi.fn()
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  api.answerWith(() => ({ body: { fine: true } }))
  const { signal } = new AbortController()
  const before = keptAt(signal)
  await Promise.all(Array.from({ length: 30 }, () => http().get('/x', schema, { signal })))
  await eventually('nothing that is kept', () => keptAt(signal) === before)
  expect(onWarning).not.toHaveBeenCalled()
})

it('failures are the problem that the server states', async () => {
  const stated = problem(422, 'policy-rejected', { reason: 'stale-version' })
  api.answerWith(() => ({ ...stated, headers: { ...stated.headers, 'retry-after': '7' } }))
  await expect(http().get('/x', schema)).rejects.toMatchObject({
    ...{ name: 'ServerError', code: 'policy-rejected', status: 422, requestId: 'request-1', retryAfter: 7 },
    ...{ docs: `${api.url}/errors#policy-rejected`, problem: { reason: 'stale-version' } },
  })
  // What only a newer server knows.
  api.answerWith(() => problem(409, 'later-code'))
  const unknown = { code: 'unknown', problem: { code: 'later-code' } }
  await expect(http().get('/x', schema)).rejects.toMatchObject(unknown)
})

it('no failure has a script of a server as its page', async () => {
  const { body, ...stated } = problem(422, 'policy-rejected')
  api.answerWith(() => ({ ...stated, body: { ...Object(body), type: 'javascript:alert(1)' } }))
  const page = 'confidential-trading-client/README.md#server-error'
  await expect(http().get('/x', schema)).rejects.toMatchObject({ code: 'policy-rejected', docs: page })
})

it.each([
  [502, 'server-unavailable', true],
  [504, 'server-unavailable', true],
  [500, 'unknown', false],
])('failures of a proxy in between, %i, are %s', async (status, code, retryable) => {
  const past = new Date(0).toUTCString()
  api.answerWith(() => ({ status, headers: { 'x-request-id': 'abc', 'retry-after': past }, body: '<html>' }))
  const failure = { code, retryable, status, requestId: 'abc', retryAfter: 0 }
  await expect(http().get('/x', schema)).rejects.toMatchObject(failure)
})

it('a reader asks with the fetch and the time-out that it is given', async () => {
  const asked: string[] = []
  const slow: typeof fetch = (input, init) => {
    asked.push(String(input))
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
  }
  const timing = { ...FAST, attempts: 1 }
  const impatient = createReader({ serverUrl: 'https://server.example', timeoutMs: 5, timing, fetch: slow })
  await expect(impatient.getMarketClock()).rejects.toMatchObject({ code: 'server-timeout' })
  expect(asked).toEqual(['https://server.example/market/clock'])
})
