// Actor: no attacker is needed. The broker rejects an order and states `filled_qty: null`, as Alpaca's documentation shows, or it refuses
// the enclave's keys. An employee can cause the first with an order that the broker will not take.
// Cost: nothing.
// Effect: an unreadable answer counted as a missing one. The order was `queued` for ever, its USDC stayed in escrow, and its account's
// cash stayed promised. Neither a code nor an alert reached the operator. Refunding every unreadable order would be worse: a filled one
// would be paid twice.
// Now: the enclave refunds exactly where the broker certainly filled nothing. Everything else has a code, which the server counts and
// raises an alert for.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ALARMING } from '../../src/server/trigger/runner.js'
import { buy, reclaim } from '../enclave/support/scenarios.js'
import { useWorld, WALLET } from '../enclave/support/world.js'
import { alpacaExample } from '../support/alpacaExamples.js'

const world = useWorld()
const control = () => world().broker.control

describe('an order whose filled quantity the broker leaves out', () => {
  it.each([
    ['the broker rejected it', { mode: 'reject', filledQty: 'null' }, 'broker-rejected'],
    ['it ended without a trace of a fill', { mode: 'expire', filledQty: 'absent' }, 'expired-at-close'],
  ] as const)('is refunded when %s', async (_name, fill, code) => {
    control().fill(fill)
    expect(await world().refused(buy(250))).toBe(code)
    expect(await world().usdc('alice')).toBe(WALLET)
    await world().checkInvariants()
  })

  it.each([
    ['filled', { mode: 'immediate', filledQty: 'absent' }],
    ['filled in part, and expired', { mode: 'expire', fraction: '0.4', filledQty: 'null' }],
  ] as const)('is neither settled nor refunded when it was %s', async (_name, fill) => {
    control().fill(fill)
    const order = await world().open(buy(250))
    expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'broker-unreadable' })
    // Not even when its deadline is past.
    await world().chain.mineAt(order.deadline + 1)
    expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'broker-unreadable' })
    expect(await world().state(order)).toBe('OPEN')
    expect(await world().portfolio('alice')).toMatchObject({ cash: 0n, positions: {} })
    expect(control().orders()).toHaveLength(1)
  })

  it('is settled once the broker states it, and holds up no other account until then', async () => {
    const order = await world().open(buy(250))
    control().fill({ mode: 'hold', times: 1 })
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    control().release({})
    const body = { ...Object(alpacaExample('order-filled')), filled_qty: null }
    // Neither by its id nor in a list.
    control().fault({ method: 'GET', path: '/v2/orders', times: 100, respond: { status: 200, body } })
    expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'broker-unreadable' })
    control().clear({ what: 'faults' })
    await world().settled({ ...buy(100), who: 'bob' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })

  it("does not stand in the account's way after its escrow was reclaimed", async () => {
    control().fill({ mode: 'expire', fraction: '0.4', filledQty: 'null', times: 1 })
    const order = await world().open(buy(250))
    await world().run(order)
    await reclaim(world(), order)
    expect(await world().run(order)).toMatchObject({ outcome: 'placed', code: 'broker-unreadable' })
    expect((await world().portfolio('alice'))?.openOrders).toHaveProperty(order.orderId)
    await world().settled(buy(100))
  })
})

describe('an error of the broker after the write-ahead', () => {
  it.each<[number, string, string]>([
    [401, 'error-unauthorized', 'broker-unauthorized'],
    [403, 'error-forbidden', 'broker-unauthorized'],
    [403, 'error-buying-power', 'broker-refused'],
    [404, 'error-not-found', 'broker-refused'],
    [422, 'error-not-cancelable', 'broker-refused'],
    [429, 'error-rate-limit', 'broker-rate-limited'],
    [503, 'error-not-found', 'broker-unavailable'],
    [200, 'error-not-found', 'broker-unreadable'],
  ])('%i (%s) makes the order wait with the code %s', async (status, example, code) => {
    const respond = { status, body: alpacaExample(example) }
    control().fault({ method: 'POST', path: '/v2/orders', times: 1_000, respond })
    const order = await world().open(buy(250))
    expect(await world().run(order)).toMatchObject({ outcome: 'queued', code })
    expect((await world().portfolio('alice'))?.openOrders).toHaveProperty(order.orderId)
    control().clear({ what: 'faults' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })
})

it('the operator has an alert for each code that the server counts', () => {
  const alerts = readFileSync('docs/operations/alerts.yml', 'utf8')
  const named = [...alerts.matchAll(/trading_enclave_alarms_total\{code=~?"([^"]*)"/g)]
  const codes = new Set(named.flatMap(([, pattern = '']) => pattern.split('|')))
  expect([...codes].sort()).toEqual([...ALARMING.keys()].sort())
  expect([...codes]).toEqual(
    expect.arrayContaining(['broker-mismatch', 'broker-unreadable', 'broker-refused']),
  )
})
