// Statuses that Alpaca documents and orders rarely meet: each is live, and its end is taken as it comes.
import { expect, it } from 'vitest'
import { costOf } from '../support/brokerBooks.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { eventually } from '../support/eventually.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const control = () => world().broker.control
const buy = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(400), escrow: usd(400) } as const

it.each(['held', 'suspended', 'stopped', 'accepted_for_bidding', 'pending_replace'] as const)(
  'an order that is %s is placed, and settled once it fills',
  async (waitsAs) => {
    control().fill({ mode: 'hold', waitsAs, times: 1 })
    const order = await world().open(buy)
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    control().release({})
    expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  },
)

it('an order that is calculated is filled, and not settled before it says so', async () => {
  control().fill({ mode: 'immediate', endsThrough: 'calculated', endDelayMs: 60_000, times: 1 })
  const order = await world().open({ ...buy, deadlineIn: 60 })
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  await world().chain.mineAt(order.deadline)
  // It cannot be cancelled any more.
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  control().clock({ open: false })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it('an order that is done for the day is settled with the part that was filled, once it has expired', async () => {
  control().fill({ mode: 'expire', fraction: '0.4', endsThrough: 'done_for_day', endDelayMs: 60_000 })
  const order = await world().open(buy)
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  control().clock({ open: false })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it('an order that another one carried on is settled with the fills of both', async () => {
  control().price({ symbol: 'AAPL', price: '100', ask: '100' })
  control().fill({ mode: 'replace', fraction: '0.25', delayMs: 50, times: 1 })
  const order = await world().open(buy)
  await world().run(order)
  await eventually('the second order fills', () => control().orders().at(-1)?.status === 'filled')
  await world().run(order)
  expect(await world().state(order)).toBe('SETTLED')
  const portfolio = await world().portfolio('alice')
  expect(portfolio?.positions.AAPL?.qty).toBe(shares(4))
  expect(portfolio?.cash).toBe(usd(400) - costOf(shares(4), '100'))
  await world().checkInvariants()
})
