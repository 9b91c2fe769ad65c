import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { orderReceivedSchema } from '../../../src/protocol/api.js'
import { commitOf } from '../../../src/protocol/envelope.js'
import { buildApp } from '../../support/builtApp.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, bytes32, shares } from '../../support/institution.js'
import { enclaveEnvironment, openFor, sealOrder } from '../../support/intakeServer.js'
import { giveShares, refundOrder, settleOrder } from '../../support/orderEnds.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()
const FAR = 4_000_000_000

describe('POST /orders', () => {
  test('stores the envelope, and has the enclave run with it; the same again changes nothing', async () => {
    const { post, api, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    await enclave.plan({ [ORDER]: [{ outcome: 'failed', notice, retryAt: FAR }] })
    const { envelope, order, commit } = await openedEnvelope()
    const response = await post(order)
    expect([response.status, response.headers.location]).toEqual([202, `/orders/${ORDER}`])
    const { receivedAt } = response.body
    expect(response.body).toEqual({ orderId: ORDER, result: 'received', commit, receivedAt })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const upper = { ...order, orderId: `0x${order.orderId.slice(2).toUpperCase()}` }
    for (const again of [order, upper]) {
      const { status: code, body } = await post(again)
      expect([code, body]).toEqual([202, { ...response.body, result: 'already-received' }])
    }
    const shown = await api.get(`/orders/${ORDER}`)
    const times = { startedAt: expect.any(String), finishedAt: expect.any(String) }
    expect(shown.body).toEqual({
      orderId: ORDER,
      state: 'OPEN',
      account: chain().account('alice'),
      amount: '0',
      deadline: expect.stringMatching(/^\d{4}-.*Z$/),
      commit,
      receivedAt,
      triggers: [{ attempt: 1, reason: 'received', outcome: 'failed', ...times }],
      nextTriggerAt: '2096-10-02T07:06:40.000Z',
      notice,
    })
    const unchanged = await api.get(`/orders/${ORDER}`).set('If-None-Match', String(shown.headers.etag))
    expect(unchanged.status).toBe(304)
    expect(await enclave.jobs()).toMatchObject([{ job: 'order', orderId: ORDER, envelope }])
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
})

describe('GET /orders/:orderId', () => {
  test('tells the symbol and the shares of a deposit', async () => {
    await giveShares(chain(), 'alice', shares(3))
    const { status } = await setUp()
    await chain().send('alice', 'aapl', 'approve', chain().addressOf('escrow'), shares(3))
    const deadline = (await chain().now()) + 3_600
    await chain().send('alice', 'escrow', 'openDeposit', ORDER, bytes32('sealed'), AAPL, shares(2), deadline)
    const deposit = { symbol: 'AAPL', shares: '2000000000' }
    await expect.poll(status).toMatchObject({ state: 'OPEN', amount: '0', deposit })
    await settleOrder(chain(), ORDER)
    await expect.poll(status).toMatchObject({ state: 'SETTLED', amount: '0', deposit })
  })

  test('does not show the time of an envelope that is not the order’s', async () => {
    const { post, status } = await setUp()
    const { order } = await junk('junk')
    const { body } = await post(order)
    expect((await status()).receivedAt).toBe(body.receivedAt)
    await openedEnvelope()
    expect(await status()).toMatchObject({ state: 'OPEN', receivedAt: null })
  })

  const failed = { outcome: 'failed' } as const
  const waits = { outcome: 'queued', code: 'broker-turn' } as const
  const placed = { outcome: 'placed', retryAt: FAR } as const
  test.each([
    ['failed', 'it is settled after all', failed, undefined, settleOrder, 'SETTLED'],
    ['failed', 'another run has settled it', failed, { outcome: 'settled' } as const, settleOrder, 'SETTLED'],
    ['waits for its turn', 'it is refunded', waits, undefined, refundOrder, 'REFUNDED'],
    ['waits for its turn', 'another run has ended', waits, placed, undefined, 'OPEN'],
  ] as const)('shows why an order %s until %s', async (_what, _until, run, later, end, state) => {
    const { post, status, enclave } = await setUp()
    const notice = await sealOrder('why')
    const first = { ...run, notice, ...(later === undefined && { retryAt: FAR }) }
    await enclave.plan({ [ORDER]: later === undefined ? [first] : [first, later] })
    const { order } = await openedEnvelope()
    await post(order)
    if (later === undefined) await eventually('the notice', async () => (await status()).notice)
    else await eventually('the later run', async () => (await status()).triggers[1]?.outcome)
    await end?.(chain(), ORDER)
    await eventually('its state', async () => (await status()).state === state)
    expect(await status()).toMatchObject({ notice: null })
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
    const { enclave } = first
    const second = await first.restart({ RPC_URL: chain().anvil.rpcUrl })
    await eventually('both runs', async () => (await enclave.jobs()).length === 2)
    expect((await first.commitsRun()).sort()).toEqual([commit, commitOf(later)].sort())
    await eventually('the outcome', async () => (await second.status()).triggers[0]?.outcome)
    expect((await second.status()).triggers).toMatchObject([
      { attempt: 1, reason: 'restart', outcome: 'placed' },
    ])
    expect((await second.post(order)).body.result).toBe('already-received')
  })

  test('keeps the schedule: an order that waits for its time is shown with it, and does not run', async () => {
    const { post, status, enclave, stop, restart } = await setUp()
    await enclave.plan({ [ORDER]: [{ outcome: 'queued', retryAt: FAR }] })
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the schedule', async () => (await status()).nextTriggerAt)
    const before = await status()
    expect(before.nextTriggerAt).toBe('2096-10-02T07:06:40.000Z')
    await stop()
    const second = await restart()
    await eventually('the look at the chain', () => second.log.text().includes('open orders read'))
    expect(await second.status()).toEqual(before)
    expect(await enclave.jobs()).toHaveLength(1)
  })
})

test('an envelope that comes while the chain is down is kept, and runs once the chain is back', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { post, api, status, commitsRun } = await setUp({ RPC_URL: proxy.url })
  await eventually('the first look at the chain', () => proxy.requests.length > 3)
  const { order, commit } = await openedEnvelope()
  proxy.fault = 'drop'
  expect((await post((await junk('junk')).order)).body).toMatchObject({ result: 'received' })
  expect((await post(order)).body).toMatchObject({ result: 'received', commit })
  const down = await api.get(`/orders/${ORDER}`)
  expect([down.status, down.headers['retry-after'], down.body.code]).toEqual([503, '5', 'chain-unavailable'])
  proxy.fault = 'none'
  await eventually('the outcome', async () => (await status()).triggers?.[0]?.outcome)
  expect(await commitsRun()).toEqual([commit])
  // The commit that a run has seen decides from then on, whether or not the chain can be asked.
  proxy.fault = 'drop'
  expect((await post((await junk('more junk')).order)).body).toMatchObject({
    result: 'already-received',
    commit,
  })
})

test('an escrow that POST /orders has seen is not denied by what GET /orders remembers', async () => {
  const enclave = enclaveEnvironment(await createScriptedEnclave(await temporaryDirectory()))
  // No service runs, so that nothing but the two routes asks for the head.
  const { app } = await buildApp({ chain: chain(), env: { ...enclave, READ_MAX_AGE: '1h' } })
  const post = (body: object) => request(app).post('/orders').send(body).expect(202)
  const state = async () => (await request(app).get(`/orders/${ORDER}`).expect(200)).body.state
  await post({ orderId: ORDER, ...(await sealOrder('of somebody else')) })
  expect(await state()).toBe('NONE')
  const order = await openFor(chain(), 'alice', ORDER, await sealOrder('of whom the escrow is'))
  expect(await state()).toBe('NONE')
  await post(order)
  expect(await state()).toBe('OPEN')
})
