import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { orderReceivedSchema } from '../../../src/protocol/api.js'
import { commitOf } from '../../../src/protocol/envelope.js'
import { RECLAIM_DELAY } from '../../../src/protocol/reclaimDelay.js'
import { eventually } from '../../support/eventually.js'
import { AAPL, bytes32, shares } from '../../support/institution.js'
import { chainEnvironment, openFor, sealOrder, startIntakeServer } from '../../support/intakeServer.js'
import { giveShares, settleOrder } from '../../support/orderEnds.js'
import { openIds, storedRows } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()

describe('POST /orders', () => {
  test('stores the envelope, answers 202 with its Location, and has the enclave run with it', async () => {
    const { post, status, enclave } = await setUp()
    const { envelope, order, commit } = await openedEnvelope()
    const response = await post(order)
    expect(response.status).toBe(202)
    expect(response.headers.location).toBe(`/orders/${ORDER}`)
    expect(response.body).toEqual({
      orderId: ORDER,
      result: 'received',
      commit,
      receivedAt: expect.any(String),
    })
    const [trigger] = await eventually('the outcome', async () => {
      const { triggers } = await status()
      return triggers[0]?.outcome && triggers
    })
    expect(trigger).toMatchObject({ attempt: 1, reason: 'received', outcome: 'placed' })
    const [job, ...others] = await enclave.jobs()
    expect(others).toEqual([])
    expect(job).toMatchObject({ job: 'order', orderId: ORDER, envelope })
  })

  test('the same again is already-received, with the first answer, and nothing runs again', async () => {
    const { post, status, enclave } = await setUp()
    const { order } = await openedEnvelope()
    const { body } = await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const upper = { ...order, orderId: `0x${order.orderId.slice(2).toUpperCase()}` }
    for (const again of [order, upper]) {
      const response = await post(again)
      expect(response.status).toBe(202)
      expect(response.body).toEqual({ ...body, result: 'already-received' })
    }
    expect((await status()).triggers).toHaveLength(1)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('posted twenty times at once, it is received once', async () => {
    const { post, status, enclave } = await setUp()
    const { order } = await openedEnvelope()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(order)))
    const results = answers.map(({ body }) => orderReceivedSchema.parse(body).result).sort()
    expect(results).toEqual([...Array(19).fill('already-received'), 'received'])
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('runs once the escrow opens, when it came before', async () => {
    const { post, status, commitsRun } = await setUp()
    const envelope = await sealOrder('early')
    expect((await post({ orderId: ORDER, ...envelope })).body.result).toBe('received')
    expect(await status()).toMatchObject({
      state: 'NONE',
      account: null,
      amount: null,
      commit: null,
      triggers: [],
    })
    await openFor(chain(), 'alice', ORDER, envelope)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commitOf(envelope)])
  })
})

describe('GET /orders/:orderId', () => {
  test('tells the symbol and the shares of a deposit', async () => {
    await giveShares(chain(), 'alice', shares(3))
    const { status } = await setUp()
    await chain().send('alice', 'aapl', 'approve', chain().addressOf('escrow'), shares(3))
    const deadline = (await chain().now()) + 3_600
    await chain().send('alice', 'escrow', 'openDeposit', ORDER, bytes32('sealed'), AAPL, shares(2), deadline)
    const deposit = { symbol: 'AAPL', shares: '2000000000' }
    expect(
      await eventually('it is open', async () => (await status()).state === 'OPEN' && status()),
    ).toMatchObject({ amount: '0', deposit })
    await settleOrder(chain(), ORDER)
    expect(
      await eventually('it is settled', async () => (await status()).state === 'SETTLED' && status()),
    ).toMatchObject({ amount: '0', deposit })
  })

  test('tells the escrow, the envelope and the runs', async () => {
    const { post, api, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    await enclave.plan({ [ORDER]: [{ outcome: 'failed', notice, retryAt: 4_000_000_000 }] })
    const { order, commit } = await openedEnvelope()
    const { body: received } = await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const response = await api.get(`/orders/${ORDER}`)
    expect(response.body).toEqual({
      orderId: ORDER,
      state: 'OPEN',
      account: chain().account('alice'),
      amount: '0',
      deadline: expect.stringMatching(/^\d{4}-.*Z$/),
      commit,
      receivedAt: received.receivedAt,
      triggers: [
        {
          attempt: 1,
          reason: 'received',
          startedAt: expect.any(String),
          finishedAt: expect.any(String),
          outcome: 'failed',
        },
      ],
      nextTriggerAt: '2096-10-02T07:06:40.000Z',
      notice,
    })
    const again = await api.get(`/orders/${ORDER}`).set('If-None-Match', String(response.headers.etag))
    expect(again.status).toBe(304)
  })

  test('an escrow without an envelope is known too', async () => {
    const { status } = await setUp()
    const { commit } = await openedEnvelope()
    expect(await status()).toMatchObject({
      state: 'OPEN',
      commit,
      receivedAt: null,
      triggers: [],
      notice: null,
    })
  })

  test('does not show the time of an envelope that is not the order’s', async () => {
    const { post, status } = await setUp()
    const { order } = await junk('junk')
    const { body } = await post(order)
    expect((await status()).receivedAt).toBe(body.receivedAt)
    await openedEnvelope()
    expect(await status()).toMatchObject({ state: 'OPEN', receivedAt: null })
  })

  test('shows no notice of an order that was settled after all', async () => {
    const { post, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    await enclave.plan({ [ORDER]: [{ outcome: 'failed', notice, retryAt: 4_000_000_000 }] })
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the notice', async () => (await status()).notice)
    await settleOrder(chain(), ORDER)
    expect(await status()).toMatchObject({ state: 'SETTLED', notice: null })
  })

  test('shows what the run that settled an order left, in place of what an earlier one did', async () => {
    const { post, status, enclave } = await setUp()
    const [why, filled] = [await sealOrder('why'), await sealOrder('filled')]
    await enclave.plan({
      [ORDER]: [
        { outcome: 'failed', notice: why },
        { outcome: 'settled', notice: filled },
      ],
    })
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the end', async () => (await status()).triggers[1]?.outcome)
    await settleOrder(chain(), ORDER)
    await eventually('the settlement', async () => (await status()).state === 'SETTLED')
    expect(await status()).toMatchObject({ state: 'SETTLED', notice: filled })
  })

  test('an order that neither chain nor cache knows is 404, and one without the right form 400', async () => {
    const { api } = await setUp()
    const unknown = await api.get(`/orders/${bytes32('unknown')}`)
    expect(unknown.status).toBe(404)
    expect(unknown.body.code).toBe('order-not-found')
    for (const bad of ['0x12', `${ORDER}00`, ORDER.slice(2), '..%2f..%2fetc', `0x${'zz'.repeat(32)}`]) {
      const response = await api.get(`/orders/${bad}`)
      expect(response.status).toBe(400)
      expect(response.body.code).toBe('invalid-parameter')
    }
  })
})

describe('a body that is no order', () => {
  test('gets a 4xx problem, is not stored and starts nothing', async () => {
    const { api, post, dataDir, enclave, log } = await setUp()
    const good = { orderId: ORDER, ...(await sealOrder('x')) }
    const { tag: _tag, ...untagged } = good
    const text = JSON.stringify(good)
    const offCurve = `0x02${'ff'.repeat(32)}`
    const bad: [object, string][] = [
      [{ ...good, extra: 1 }, 'invalid-body'],
      [{ ...good, orderId: '0x12' }, 'invalid-body'],
      [{ ...good, orderId: 7 }, 'invalid-body'],
      [untagged, 'invalid-body'],
      [[good], 'invalid-body'],
      [{ ...good, ct: 5 }, 'invalid-body'],
      [{ ...good, epk: offCurve }, 'invalid-envelope'],
      [{ ...good, epk: `${good.epk}00` }, 'invalid-envelope'],
      [{ ...good, iv: '0x00' }, 'invalid-envelope'],
      [{ ...good, tag: `${good.tag}0` }, 'invalid-envelope'],
      [{ ...good, ct: '0x' }, 'invalid-envelope'],
      [{ ...good, ct: 'zz' }, 'invalid-envelope'],
      [{ ...good, ct: `0x${'00'.repeat(4_097)}` }, 'invalid-envelope'],
    ]
    for (const [body, code] of bad) {
      const response = await post(body)
      expect([response.status, response.body.code]).toEqual([400, code])
    }
    const raw: [string, string, number, string][] = [
      ['application/json', '{', 400, 'malformed-json'],
      ['application/json', '', 400, 'malformed-json'],
      ['application/json', text.replace('{', '{"__proto__":{},'), 400, 'malformed-json'],
      ['application/json', text.replace('{', `{"orderId":"${ORDER}",`), 400, 'malformed-json'],
      ['text/plain', text, 415, 'unsupported-media-type'],
      ['application/x-www-form-urlencoded', text, 415, 'unsupported-media-type'],
      ['application/json', `${text}${' '.repeat(65_536)}`, 413, 'body-too-large'],
    ]
    for (const [type, body, status, code] of raw) {
      const response = await api.post('/orders').set('Content-Type', type).send(body)
      expect([response.status, response.body.code]).toEqual([status, code])
    }
    expect((await api.put('/orders').send(good)).status).toBe(405)
    expect((await api.post(`/orders/${ORDER}`).send(good)).status).toBe(405)
    expect(storedRows(dataDir, 'orders')).toEqual([])
    expect(await enclave.jobs()).toEqual([])
    expect(log.text()).not.toContain(good.ct.slice(2))
  })
})

describe('a restart', () => {
  test('runs a stored envelope that was never run, and one whose escrow opened before the restart', async () => {
    const first = await setUp({ RPC_URL: 'http://127.0.0.1:9' })
    const { order, commit } = await openedEnvelope()
    await first.post(order)
    const later = await sealOrder('later')
    const laterId = bytes32('later')
    await first.post({ orderId: laterId, ...later })
    await first.stop()
    await openFor(chain(), 'bob', laterId, later)
    const { environment, enclave } = first
    const second = await startIntakeServer({ ...environment, ...chainEnvironment(chain()) }, enclave)
    await eventually('both runs', async () => (await enclave.jobs()).length === 2)
    expect((await first.commitsRun()).sort()).toEqual([commit, commitOf(later)].sort())
    const { body } = await eventually('the outcome', async () => {
      const response = await request(second.url).get(`/orders/${ORDER}`)
      return response.body.triggers[0]?.outcome && response
    })
    expect(body.triggers).toMatchObject([{ attempt: 1, reason: 'restart', outcome: 'placed' }])
    expect((await request(second.url).post('/orders').send(order)).body.result).toBe('already-received')
  })

  test('keeps the schedule: an order that waits for its time is shown with it, and does not run', async () => {
    const { post, status, enclave, stop, environment } = await setUp()
    await enclave.plan({ [ORDER]: [{ outcome: 'queued', retryAt: 4_000_000_000 }] })
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the schedule', async () => (await status()).nextTriggerAt)
    const before = await status()
    expect(before.nextTriggerAt).toBe('2096-10-02T07:06:40.000Z')
    await stop()
    const second = await startIntakeServer(environment, enclave)
    await eventually('the look at the chain', () => second.log.text().includes('open orders read'))
    expect((await request(second.url).get(`/orders/${ORDER}`)).body).toEqual(before)
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('keeps the record of an order that has ended, apart from the open ones', async () => {
    const { post, status, enclave, dataDir, stop, environment } = await setUp()
    await enclave.plan({ [ORDER]: [{ outcome: 'rejected' }] })
    const { order, commit } = await openedEnvelope()
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const { deadline } = await status()
    await chain().mineAt(Date.parse(deadline) / 1_000 + RECLAIM_DELAY)
    await chain().send('alice', 'escrow', 'reclaim', ORDER)
    await eventually('the record among the ended ones', () => openIds(dataDir, 'orders').length === 0)
    expect(storedRows(dataDir, 'orders')).toHaveLength(1)
    expect(await status()).toMatchObject({ state: 'REFUNDED', triggers: [{ outcome: 'rejected' }] })
    expect((await post((await junk('late')).order)).body).toMatchObject({
      result: 'already-received',
      commit,
    })
    await stop()
    const second = await startIntakeServer(environment, enclave)
    const { body } = await request(second.url).get(`/orders/${ORDER}`)
    expect(body).toMatchObject({ state: 'REFUNDED', commit, triggers: [{ outcome: 'rejected' }] })
    expect(await enclave.jobs()).toHaveLength(1)
  })
})
