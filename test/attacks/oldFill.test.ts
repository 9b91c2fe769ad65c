// Actor: an employee, after the contracts were deployed anew with the same account at the broker, which is the
// documented way to upgrade. She remembers the id of a buy that was filled under the old contracts.
// Cost: one dollar, and the gas to open an order.
// Effect: she opened the old id again for that dollar. The broker reported an order of this id as filled,
// and the enclave credited the old fill a second time. She sold shares for 1,000 USDC that others paid for.
// Now: the enclave takes a broker's order for its own only if symbol, side, size and age fit the entry and the
// deployment. Otherwise it is `broker-mismatch`, and no money moves.
import { expect, it } from 'vitest'
import type { BrokerOrder } from '../../src/broker/index.js'
import { buy } from '../enclave/support/scenarios.js'
import { createWorld, setUpWorld, useOtherChain, useWorld } from '../enclave/support/world.js'
import { answering, dearer, usd } from '../support/brokerStandIn.js'
import { startTestChain } from '../support/chain.js'

const HOUR = 3_600

const old = useWorld()
const chain = useOtherChain()

it('an old fill is not credited to a new order of one dollar', async () => {
  const filled = await old().settled(buy(1_000))
  // The platform after the upgrade: other contracts, the same broker.
  const world = createWorld(chain(), old().broker)
  const again = await world.open({ ...buy(1), orderId: filled.orderId })
  expect(await world.run(again)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  const portfolio = await world.portfolio('alice')
  expect(portfolio?.positions ?? {}).toEqual({})
  expect(portfolio?.cash ?? 0n).toBe(0n)
  expect(await world.state(again)).toBe('OPEN')
})

it('nor to one for the same amount, when the fill is older than the contracts', async () => {
  const filled = await old().settled(buy(500))
  // The new contracts are younger than the fill by more than clocks may differ.
  const later = await startTestChain({ args: ['--timestamp', String(Math.floor(Date.now() / 1_000) + HOUR)] })
  try {
    await setUpWorld(later)
    const world = createWorld(later, old().broker)
    await world.clock.sleep(HOUR * 1_000)
    const again = await world.open({ ...buy(500), orderId: filled.orderId })
    expect(await world.run(again)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
    expect((await world.portfolio('alice'))?.positions ?? {}).toEqual({})
    expect(old().broker.control.orders()).toHaveLength(1)
  } finally {
    await later.stop()
  }
})

it('a buy that cost more than it paid for moves no money, beyond a tolerance', async () => {
  const order = await old().open(buy(100))
  const result = await old().run(order, { deps: { broker: dearer(old().broker.url, 2_000n) } })
  expect(result).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await old().state(order)).toBe('OPEN')
  expect((await old().portfolio('alice'))?.positions).toEqual({})
})

it.each<[string, Partial<BrokerOrder>]>([
  ['another amount', { notional: usd(1_000) }],
  ['another symbol', { symbol: 'TSLA' }],
  ['a sale', { side: 'sell' }],
])('a fill under her id that is for %s is not hers, however young it is', async (_what, other) => {
  const order = await old().live(buy(100))
  old().broker.control.release({})
  const result = await old().run(order, { deps: { broker: answering(old().broker.url, () => other) } })
  expect(result).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await old().state(order)).toBe('OPEN')
  expect((await old().portfolio('alice'))?.positions).toEqual({})
})
