import { describe, expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32 } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { refundOrder } from '../../support/orderEnds.js'
import { openIds, storedRows } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()

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

  test('alone under an open escrow is never run', async () => {
    const { post, status, commitsRun } = await setUp()
    const { order, commit: wanted } = await openedEnvelope()
    const { order: other, commit } = await junk('junk')
    expect((await post(other)).body).toMatchObject({ result: 'received', commit })
    const second = await junk('more junk')
    expect((await post(second.order)).body).toMatchObject({ result: 'already-received', commit })
    // The owner's run comes after any that the junk might have had: one account has one run at a time.
    await post(order)
    await eventually('the outcome', async () => (await status()).triggers[0]?.outcome)
    expect(await commitsRun()).toEqual([wanted])
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
