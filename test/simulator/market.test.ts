import { expect, it } from 'vitest'
import { brokerOf, startStandIn, usd } from '../support/brokerStandIn.js'
import { useStandIn } from './useStandIn.js'

const { standIn, broker, buy, read } = useStandIn()

it('orders that are placed while the market is closed wait until it opens', async () => {
  standIn().control.clock({ open: false, nextOpen: '2040-01-03T14:30:00Z' })
  expect(await broker().getClock()).toMatchObject({
    isOpen: false,
    nextOpen: new Date('2040-01-03T14:30:00Z'),
    nextClose: new Date('2040-01-03T21:00:00Z'),
  })
  await buy('night', usd(100))
  expect((await read('night')).status).toBe('accepted')
  standIn().control.clock({ open: true })
  expect(await broker().getClock()).toMatchObject({ isOpen: true })
  expect((await read('night')).state).toBe('filled')
})

it('the orders of a session expire when the market closes, unless told not to', async () => {
  standIn().control.fill({ mode: 'hold' })
  await buy('a', usd(100))
  standIn().control.clock({ open: false, expireDayOrders: false })
  expect((await read('a')).state).toBe('live')
  standIn().control.clock({ open: true })
  standIn().control.clock({ open: false })
  expect((await read('a')).state).toBe('expired')
})

it('a closed market lets a delayed fill wait for the next session', async () => {
  standIn().control.fill({ mode: 'delay', delayMs: 500, times: 1 })
  await buy('late', usd(100))
  standIn().control.clock({ open: false, expireDayOrders: false })
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await read('late')).state).toBe('live')
  standIn().control.clock({ open: true })
  await expect.poll(async () => (await read('late')).state, { timeout: 10_000 }).toBe('filled')
})

it('prices walk the same way from the same seed, and another way from another', async () => {
  const walked = async (seed: number) => {
    const other = await startStandIn({ seed })
    other.control.walk({ steps: 50 })
    const snapshots = await brokerOf(other.url).getSnapshots(['AAPL', 'MSFT'])
    await other.stop()
    return [...snapshots.values()].map(({ last }) => last)
  }
  const first = await walked(7)
  expect(await walked(7)).toEqual(first)
  expect(await walked(8)).not.toEqual(first)
  expect(first).not.toContain(usd(200))
})

it('prices can be set, and left out of the snapshot', async () => {
  standIn().control.price({ symbol: 'AAPL', price: '180', bid: '179.9', ask: '180.2' })
  const snapshot = async () => (await broker().getSnapshots(['AAPL', 'MSFT'])).get('AAPL')
  expect(await snapshot()).toMatchObject({
    last: usd(180),
    bid: usd(179.9),
    ask: usd(180.2),
    previousClose: usd(200),
  })
  standIn().control.snapshot({ symbol: 'AAPL', omit: ['latestTrade', 'prevDailyBar'] })
  expect(await snapshot()).toMatchObject({ last: null, bid: usd(179.9), previousClose: null })
  standIn().control.snapshot({ symbol: 'AAPL', omit: 'all' })
  expect(await snapshot()).toBeUndefined()
})
