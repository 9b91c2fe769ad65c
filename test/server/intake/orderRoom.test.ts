import { describe, expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32 } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { refundOrder } from '../../support/orderEnds.js'
import { holdStores, openIds, storedRows } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()
const REFUSED = [429, 'too-many-waiting']

async function setUpRoom(overrides: Record<string, string>) {
  const server = await setUp({ TRUST_PROXY: '1', ...overrides })
  /** @returns status and code */
  async function postFrom(ip: string, order: object) {
    const { status, body, headers } = await server.post(order).set('X-Forwarded-For', ip)
    if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    return [status, body.code]
  }
  const stored = () => openIds(server.dataDir, 'orders').length
  return { ...server, postFrom, stored }
}

async function waiting(id: string) {
  return { orderId: bytes32(id), ...(await sealOrder(id)) }
}

describe('the envelopes that one client has waiting without an escrow', () => {
  test('are bounded in number; others, and those whose escrow opens, find room', async () => {
    const { postFrom, stored } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '2' })
    const first = await waiting('first')
    expect(await postFrom('192.0.2.1', first)).toEqual([202, undefined])
    expect(await postFrom('192.0.2.1', await waiting('second'))).toEqual([202, undefined])
    const envelope = await sealOrder('the real one')
    expect(await postFrom('192.0.2.1', { orderId: ORDER, ...envelope })).toEqual(REFUSED)
    // Posted again it takes no room; another one under the same order does.
    expect(await postFrom('192.0.2.1', first)).toEqual([202, undefined])
    const besides = { ...(await waiting('besides')), orderId: first.orderId }
    expect(await postFrom('192.0.2.1', besides)).toEqual(REFUSED)
    expect(stored()).toBe(2)
    expect(await postFrom('192.0.2.2', await waiting('of somebody else'))).toEqual([202, undefined])
    const opened = await openFor(chain(), 'alice', ORDER, envelope)
    expect(await postFrom('192.0.2.1', opened)).toEqual([202, undefined])
  })

  test('are bounded in bytes, counted as what lies on the disk', async () => {
    const { postFrom } = await setUpRoom({ ENVELOPE_MAX_BYTES_PER_CLIENT: '65536' })
    const answers = new Set<unknown>()
    let posted = 0
    // Under one order each envelope is written with all those before it.
    for (; posted < 8 && !answers.has(429); posted++) {
      const junk = { orderId: ORDER, ...(await sealOrder('x'.repeat(3_000))) }
      answers.add((await postFrom('192.0.2.1', junk))[0])
    }
    expect([...answers]).toEqual([202, 429])
    expect(posted).toBeLessThan(8)
    expect(await postFrom('192.0.2.2', await waiting('of somebody else'))).toEqual([202, undefined])
  })

  test('envelopes of one client that arrive at once cannot exceed its quota', async () => {
    const { postFrom, stored } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '3' })
    const orders = await Promise.all(Array.from({ length: 20 }, (_, n) => waiting(`${n}`)))
    const answers = await Promise.all(orders.map((order) => postFrom('192.0.2.1', order)))
    expect(answers.filter(([status]) => status === 202)).toHaveLength(3)
    expect(answers.filter(([status]) => status === 429)).toHaveLength(17)
    expect(stored()).toBe(3)
  })

  test('make room when their escrow opens', async () => {
    const { postFrom, commitsRun } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '1' })
    const envelope = await sealOrder('the real one')
    expect(await postFrom('192.0.2.1', { orderId: ORDER, ...envelope })).toEqual([202, undefined])
    await openFor(chain(), 'alice', ORDER, envelope)
    await eventually('its run', async () => (await commitsRun())[0] === commitOf(envelope))
    const next = await waiting('next')
    await eventually('room', async () => (await postFrom('192.0.2.1', next))[0] === 202)
  })

  test('count after a restart, too, for all and whether or not the chain can be asked', async () => {
    const { postFrom, dataDir, stop } = await setUpRoom({ ENVELOPE_MAX_WAITING: '1' })
    expect(await postFrom('192.0.2.1', await waiting('first'))).toEqual([202, undefined])
    await stop()
    const restarted = await setUpRoom({
      ENVELOPE_MAX_WAITING: '1',
      DATA_DIR: dataDir,
      RPC_URL: 'http://127.0.0.1:1',
    })
    expect(await restarted.postFrom('192.0.2.2', await waiting('second'))).toEqual([503, 'intake-full'])
  })
})

test('an envelope that could not be written takes no room, and runs once it is posted again', async () => {
  const { postFrom, dataDir, commitsRun } = await setUpRoom({ ENVELOPE_MAX_PER_CLIENT: '1' })
  const envelope = await sealOrder('the real one')
  const order = { orderId: ORDER, ...envelope }
  const mend = holdStores(dataDir)
  for (const each of [await waiting('lost'), order])
    expect(await postFrom('192.0.2.1', each)).toEqual([503, 'storage-unavailable'])
  mend()
  expect(await postFrom('192.0.2.1', order)).toEqual([202, undefined])
  expect(await postFrom('192.0.2.1', await waiting('another'))).toEqual(REFUSED)
  await openFor(chain(), 'alice', ORDER, envelope)
  await eventually('its run', async () => (await commitsRun())[0] === commitOf(envelope))
})

// orders.model.test.ts has junk that comes at any other moment: it is never run.
describe('junk under an orderId', () => {
  test('posted eight times first fills the room, until the escrow opens', async () => {
    const { post, status, commitsRun } = await setUp()
    const others = await Promise.all(Array.from({ length: 8 }, (_, n) => junk(`junk ${n}`)))
    for (const { order, commit } of others) {
      expect((await post(order)).body).toMatchObject({ result: 'received', commit })
    }
    const envelope = await sealOrder('the real one')
    const early = await post({ orderId: ORDER, ...envelope })
    expect(early.body).toMatchObject({ result: 'already-received', commit: others[0]?.commit })
    const order = await openFor(chain(), 'alice', ORDER, envelope)
    expect((await post(order)).body).toMatchObject({ result: 'received', commit: commitOf(envelope) })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([commitOf(envelope)])
  })

  test('posted after the owner changes nothing', async () => {
    const { post, status, commitsRun, enclave } = await setUp()
    const { order, commit } = await openedEnvelope()
    const { body } = await post(order)
    const { order: other } = await junk('junk')
    // The commit is of the ciphertext alone, so a copy with another tag has it too.
    const copy = { ...order, tag: `0x${'02'.repeat(16)}` }
    for (const each of [other, copy])
      expect((await post(each)).body).toEqual({ ...body, result: 'already-received' })
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect((await post(other)).body).toEqual({ ...body, result: 'already-received' })
    expect((await enclave.jobs())[0]).toMatchObject({ envelope: { tag: order.tag } })
    expect(await commitsRun()).toEqual([commit])
  })
})

describe('junk that would cost', () => {
  test('a call of the node each, under an order that has its envelope, costs none', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { post, status } = await setUp({ RPC_URL: proxy.url })
    const { order, commit } = await openedEnvelope()
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    const calls = () => proxy.requests.filter((methods) => methods.includes('eth_call')).length
    const before = calls()
    for (let n = 0; n < 10; n++) {
      const { body } = await post((await junk(`${n}`)).order)
      expect(body).toMatchObject({ result: 'already-received', commit })
    }
    // The server reads other things at times, but not once per post.
    expect(calls() - before).toBeLessThan(5)
  })

  test('room for ever expires, and what has an escrow stays', async () => {
    const settings = { ENVELOPE_EXPIRY: '1s', ENVELOPE_MAX_WAITING: '1' }
    const { post, api, dataDir, enclave } = await setUp(settings)
    const { order } = await openedEnvelope()
    await post(order)
    await eventually('the run of what has an escrow', async () => (await enclave.jobs()).length > 0)
    const gone = bytes32('never opened')
    expect((await post({ orderId: gone, ...(await sealOrder('junk')) })).status).toBe(202)
    await eventually('its end', async () => (await api.get(`/orders/${gone}`)).status === 404)
    expect(openIds(dataDir, 'orders')).toEqual([ORDER])
    expect((await post({ orderId: gone, ...(await sealOrder('junk')) })).status).toBe(202)
  })

  test('room under an order that has ended gets none', async () => {
    const { post, status, dataDir, enclave } = await setUp()
    await openedEnvelope()
    await refundOrder(chain(), ORDER)
    expect((await post((await junk('late')).order)).status).toBe(202)
    await eventually('its end', () => storedRows(dataDir, 'orders').length === 0)
    expect(await status()).toMatchObject({ state: 'REFUNDED', receivedAt: null, triggers: [] })
    expect(await enclave.jobs()).toEqual([])
  })
})
