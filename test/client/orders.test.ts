import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import { createOrderPosting } from '../../src/client/orderPosting.js'
import { createOrders } from '../../src/client/orders.js'
import { commitOf, type Envelope, ORDER_PLACE, seal } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type ApiAnswer, problem, useApi } from '../support/apiStandIn.js'
import { FAST, INTENT_PUBLIC_KEY, NO_STATUS, receive } from './clientSetting.js'

const orderId: Hex = `0x${'0a'.repeat(32)}`
const otherCommit: Hex = `0x${'ff'.repeat(32)}`
let envelope: Envelope

const api = await useApi()

beforeAll(async () => {
  envelope = await seal({ any: 'order' }, INTENT_PUBLIC_KEY, ORDER_PLACE)
})
beforeEach(() => {
  api.requests.length = 0
})

const server = () => ({ http: createHttp({ serverUrl: api.url, timeoutMs: 10_000 }), timing: FAST })
const orders = () => createOrders(server())
const submit = () => createOrderPosting(server()).submit({ orderId, envelope, commit: commitOf(envelope) })

/** Answers with each in turn, the last one for ever. */
function answers<T>(...given: T[]): () => T {
  let index = 0
  return () => {
    const answer = given[Math.min(index++, given.length - 1)]
    if (answer === undefined) throw new Error('no answers given')
    return answer
  }
}

const foreign = {
  orderId,
  commit: otherCommit,
  result: 'already-received',
  receivedAt: '2030-01-01T00:00:00Z',
}

it('submitting posts again until the server holds this envelope', async () => {
  const next = answers({ status: 202, body: foreign }, { status: 202, body: foreign }, null)
  api.answerWith(({ body }) => next() ?? receive(body))
  expect(await submit()).toMatchObject({ commit: commitOf(envelope) })
  expect(api.requests).toHaveLength(3)
  expect(new Set(api.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1)
})

it('submitting says so when another envelope stays', async () => {
  api.answerWith(() => ({ status: 202, body: foreign }))
  await expect(submit()).rejects.toMatchObject({ code: 'commit-differs' })
  expect(api.requests).toHaveLength(FAST.attempts)
})

const run = (finishedAt: string | null) => ({
  ...{ attempt: 1, reason: 'received', startedAt: '2030-01-01T00:00:00.000Z' },
  ...{ finishedAt, outcome: finishedAt && 'refunded' },
})

function status(state: string, extra: Record<string, unknown> = {}) {
  return { ...NO_STATUS, orderId, state, triggers: [run('2030-01-01T00:00:01.000Z')], ...extra }
}

/** The states that are followed while each answer takes so long. */
async function followed(given: ApiAnswer[], stepMs = 0): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const next = answers(...given)
  api.answerWith(() => {
    vi.setSystemTime(Date.now() + stepMs)
    return next()
  })
  const seen: string[] = []
  for await (const { state, notice } of orders().listOrderStatuses(orderId, { pollMs: 1 })) {
    seen.push(notice ? `${state} with notice` : state)
  }
  return seen
}
const due = { headers: { etag: '"1"' }, body: status('REFUNDED', { triggers: [run(null)] }) }

it('following ends with the notice of a refund, which comes with the end of the run, and ignores what later servers say', async () => {
  const later = { more: 1, notice: { ...envelope, more: 1 } }
  const seen = await followed([due, { body: status('REFUNDED', later) }])
  expect(seen).toEqual(['REFUNDED', 'REFUNDED with notice'])
})

it('following does not wait for a notice for ever', async () => {
  expect(await followed([due, { status: 304 }], 60_000)).toEqual(['REFUNDED'])
  expect(api.requests.length).toBeGreaterThan(1)
})

it('following goes on after a reorganization took the end back, however long the order is open again', async () => {
  const again = ['OPEN', 'OPEN', 'OPEN', 'SETTLED']
  const seen = await followed([due, ...again.map((state) => ({ body: status(state) }))], 150_000)
  expect(seen).toEqual(['REFUNDED', ...again])
})

it('following asks with the last validator and yields nothing while nothing changed', async () => {
  const seen = await followed([
    { headers: { etag: '"a"' }, body: status('OPEN') },
    { status: 304, headers: { etag: '"a"' } },
    { headers: { etag: '"b"' }, body: status('SETTLED') },
  ])
  expect(seen).toEqual(['OPEN', 'SETTLED'])
  expect(api.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"'])
})

it('an answer of another order is refused, as its status, as its timeline, and while either is followed', async () => {
  const other = `0x${'0b'.repeat(32)}`
  api.answerWith(({ path }) => ({
    body: path.endsWith('/timeline') ? { orderId: other, entries: [] } : status('OPEN', { orderId: other }),
  }))
  const attempts = [
    orders().getOrder(orderId),
    orders().listOrderStatuses(orderId).next(),
    orders().getOrderTimeline(orderId),
    orders().listOrderTimelines(orderId).next(),
  ]
  for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'unexpected-answer' })
})

/** What a watch called back with, until it says `last`. */
async function watched(last: string): Promise<readonly string[]> {
  const seen: string[] = []
  const unsubscribe = orders().watchOrder(orderId, {
    onStatus: ({ state }) => void seen.push(state),
    onError({ code }) {
      seen.push(code)
      throw new Error('a mistake of the caller')
    },
    pollMs: 1,
  })
  await expect.poll(() => seen.at(-1)).toBe(last)
  unsubscribe()
  const { length } = api.requests
  // Later than any further request of the watch.
  await orders()
    .getOrder(orderId)
    .catch(() => undefined)
  expect(api.requests.length).toBe(length + 1)
  return seen
}

it('watching goes on after a failure that may pass, until the order has ended', async () => {
  const away = Array.from({ length: FAST.attempts }, () => ({ status: 503 }))
  const open = { body: status('OPEN') }
  api.answerWith(answers<ApiAnswer>(open, ...away, open, { body: status('SETTLED') }))
  expect(await watched('SETTLED')).toEqual(['OPEN', 'server-unavailable', 'SETTLED'])
})

it('watching is over after any other failure', async () => {
  api.answerWith(answers<ApiAnswer>(problem(404, 'order-not-found'), { body: status('OPEN') }))
  expect(await watched('order-not-found')).toEqual(['order-not-found'])
})

it.each(['unsubscribed', 'aborted'])('watching calls nothing any more once it is %s', async (how) => {
  const seen: string[] = []
  const over = new AbortController()
  api.answerWith(() => ({ body: status('OPEN') }))
  const unsubscribe = orders().watchOrder(orderId, {
    onStatus({ state }) {
      seen.push(state)
      if (how === 'aborted') over.abort()
      else unsubscribe()
    },
    onError: ({ code }) => void seen.push(code),
    pollMs: 1,
    signal: over.signal,
  })
  await expect.poll(() => seen).toEqual(['OPEN'])
  api.answerWith(() => ({ body: status('SETTLED') }))
  await expect(orders().getOrder(orderId)).resolves.toMatchObject({ state: 'SETTLED' })
  expect(seen).toEqual(['OPEN'])
})
