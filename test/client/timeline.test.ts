import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import { createOrders } from '../../src/client/orders.js'
import type { Hex } from '../../src/protocol/hex.js'
import { type ApiAnswer, type ApiStandIn, problem, startApiStandIn } from '../support/apiStandIn.js'
import { FAST } from './clientSetting.js'

const orderId: Hex = `0x${'0a'.repeat(32)}`
const [digest, txHash]: Hex[] = [`0x${'0d'.repeat(32)}`, `0x${'0e'.repeat(32)}`]
const at = '2030-01-01T00:00:00.000Z'

const event = { at, txHash, blockNumber: 7 }
const opened = { kind: 'opened', event: 'OrderOpened', ...event }
const received = { kind: 'received', at, commit: digest }
const triggered = { kind: 'triggered', at, attempt: 1, reason: 'received' }
const outcome = { kind: 'outcome', at, attempt: 1, outcome: 'settled' }
const relayed = { kind: 'relayed', at, digest, status: 'submitted' }
const sent = { kind: 'transaction', at, digest, txHash, status: 'submitted', blockNumber: null }
const mined = { ...sent, status: 'confirmed', blockNumber: 7 }
const settled = { kind: 'settled', event: 'OrderSettled', ...event }
const reclaimed = { kind: 'reclaimed', event: 'OrderRefunded', ...event }

let api: ApiStandIn
beforeAll(async () => {
  api = await startApiStandIn()
})
beforeEach(() => {
  api.requests.length = 0
})
afterAll(() => api.stop())

const orders = () =>
  createOrders({ http: createHttp({ serverUrl: api.url, timeoutMs: 10_000 }), timing: FAST })
const answer = (...entries: object[]): ApiAnswer => ({ body: { orderId, entries } })

/** The kinds of each timeline that is yielded while the server gives these answers in turn. */
async function followed(...answers: ApiAnswer[]): Promise<string[]> {
  api.answerWith(() => answers.shift() ?? problem(404, 'order-not-found'))
  const seen: string[] = []
  for await (const { entries } of orders().followOrderTimeline(orderId, { pollMs: 1 })) {
    seen.push(entries.map(({ kind }) => kind).join(' '))
  }
  expect(answers).toEqual([])
  return seen
}

describe('a timeline', () => {
  it('is read with every kind of entry', async () => {
    const entries = [opened, received, triggered, relayed, sent, mined, settled, reclaimed, outcome]
    api.answerWith(() => answer(...entries))
    expect(await orders().getOrderTimeline(orderId)).toEqual({ orderId, entries })
    expect(api.requests).toMatchObject([{ method: 'GET', path: `/orders/${orderId}/timeline` }])
  })

  it('is not taken in any other form', async () => {
    api.answerWith(() => answer({ ...mined, status: 'pending' }))
    await expect(orders().getOrderTimeline(orderId)).rejects.toMatchObject({ code: 'unexpected-answer' })
  })
})

describe('following a timeline', () => {
  it('yields what changed until the order has ended and its run is over', async () => {
    const before = [opened, received, triggered]
    const first = { ...answer(...before), headers: { etag: '"a"' } }
    const running = answer(...before, settled)
    const seen = await followed(first, { status: 304 }, running, answer(...before, settled, outcome))
    expect(seen).toEqual([
      'opened received triggered',
      'opened received triggered settled',
      'opened received triggered settled outcome',
    ])
    const validators = api.requests.map(({ headers }) => headers['if-none-match'])
    expect(validators).toEqual([undefined, '"a"', '"a"', undefined])
  })

  it('ends with a reclaim that no run learns of', async () => {
    expect(await followed(answer(opened), answer(opened, reclaimed))).toEqual(['opened', 'opened reclaimed'])
  })
})
