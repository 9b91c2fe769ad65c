import { describe, expect, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import { type EscrowKnowledge, receive } from '../../../src/server/intake/reception.js'
import { emptyOrderRecord } from '../../../src/server/store/orderRecords.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32 } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { refundOrder } from '../../support/orderEnds.js'
import { openIds, storedRows } from '../../support/storedRows.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

const { chain, setUp, openedEnvelope, junk } = useOrders()

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

const OWN = bytes32('own')
const candidate = (text: string) => ({
  commit: bytes32(text),
  receivedAt: '2025-01-02T03:04:05.000Z',
  envelope: { epk: '0x02', iv: '0x01', ct: bytes32(text), tag: '0x02' } as const,
})

// The model and the tests above have what orders that are open, or not yet, do with envelopes.
test.each<[string, number, EscrowKnowledge, string]>([
  [
    'does not replace junk once its order was refunded',
    1,
    { state: 'REFUNDED', commit: OWN },
    'already-received',
  ],
  ['replaces junk while the chain is down and its commit was seen before', 8, 'unknown', 'received'],
])('the wanted envelope %s', (_what, count, escrow, result) => {
  const candidates = Array.from({ length: count }, (_, n) => candidate(`junk ${n}`))
  const current = { ...emptyOrderRecord(ORDER), candidates, escrowCommit: OWN }
  const offered = candidate('own')
  const { record, answer } = receive({ orderId: ORDER, current, offered, escrow, refusal: undefined })
  expect(answer).toMatchObject({ result })
  expect(record?.candidates).toEqual(result === 'received' ? [offered] : candidates)
})
