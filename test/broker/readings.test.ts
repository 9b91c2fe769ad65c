import { expect, it, onTestFinished } from 'vitest'
import { sharedBrokerOf, startStandIn, usd } from '../support/brokerStandIn.js'
import { eventually } from '../support/eventually.js'

const LIMIT = { symbol: 'AAPL', side: 'buy', notional: usd(500), limitPrice: usd(190) } as const

/** A process at the broker, with a limit order that rests there. */
async function setUp() {
  const { url, control, stop } = await startStandIn()
  const broker = sharedBrokerOf(url)
  onTestFinished(async () => {
    broker.close()
    await stop()
  })
  const placement = await broker.reserve({ orderId: '', openedAt: 0, withinMs: 1_000 })
  await placement?.send({ ...LIMIT, clientOrderId: 'mine' }, { beforeSend: () => undefined })
  const read = () => broker.readOrder('mine')
  const asked = () => control.requests().filter(({ url: path }) => path.includes('by_client_order_id')).length
  return { control, read, asked }
}

it('a limit order that rests is asked for once, and again when the stream tells of its fill', async () => {
  const { control, read, asked } = await setUp()
  await eventually('a reading stands', async () => {
    await read()
    const before = asked()
    await read()
    return asked() === before
  })
  expect(await read()).toMatchObject({ state: 'live', filledQty: 0n })
  control.price({ symbol: 'AAPL', price: '189' })
  await eventually('the fill is read', async () => (await read())?.state === 'filled')
})

it('a limit order that has ended is asked for once', async () => {
  const { control, read, asked } = await setUp()
  control.clock({ open: false })
  await eventually('its end is read', async () => (await read())?.state === 'expired')
  const before = asked()
  expect(await read()).toMatchObject({ state: 'expired' })
  expect(asked()).toBe(before)
})
