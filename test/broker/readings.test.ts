import { expect, it, onTestFinished } from 'vitest'
import { createReadings } from '../../src/broker/readings.js'
import { sharedBrokerOf, startStandIn, usd } from '../support/brokerStandIn.js'

const HOOKS = { beforeSend: () => undefined }

it('a process reads all orders that may be sent next from one list, and asks for those alone that it has sent, or that are open', async () => {
  const { url, control, stop } = await startStandIn()
  const [before, broker] = [sharedBrokerOf(url), sharedBrokerOf(url)]
  onTestFinished(async () => {
    for (const each of [before, broker]) each.close()
    await stop()
  })
  const send = async (by: typeof broker, clientOrderId: string) => {
    const placement = await by.reserve({ orderId: clientOrderId, openedAt: 0, withinMs: 1_000 })
    const order = { symbol: 'AAPL', side: 'buy', notional: usd(10), clientOrderId } as const
    return placement?.send(order, HOOKS)
  }
  await send(before, 'filled')
  control.fill({ mode: 'hold' })
  await send(before, 'open')
  const from = control.requests().length
  const asked = () =>
    control
      .requests()
      .slice(from)
      .map(({ method, url: path }) => `${method} ${path.split('?')[0]}`)
  const ids = ['filled', 'open', ...Array.from({ length: 100 }, (_, number) => `waiting-${number}`)]
  const read = () => Promise.all(ids.map((id) => broker.readOrder(id, new Date(Date.now() - 3_600_000))))
  const states = async () => (await read()).map((order) => order?.state)
  const found = ['filled', 'live', ...Array.from({ length: 100 }, () => undefined)]
  expect(await states()).toEqual(found)
  const byId = 'GET /v2/orders:by_client_order_id'
  expect(asked()).toEqual(['GET /v2/orders', byId])
  expect(await states()).toEqual(found)
  expect(asked()).toEqual(['GET /v2/orders', byId, byId])
  // Its answer is lost.
  control.fault({ method: 'POST', drop: 'after' })
  await expect(send(broker, 'waiting-0')).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(await states()).toEqual(found.with(2, 'live'))
  expect(asked().slice(3)).toEqual(['POST /v2/orders', byId, byId])
})

it('absence shows in a list only as far as it reaches, and never where a look of its own is asked for', async () => {
  const since = new Date('2027-01-05T15:00:00Z')
  const asked: string[] = []
  const { read } = createReadings({
    async lookUp(clientOrderId) {
      asked.push(clientOrderId)
      return null
    },
    newest: async () => ({ orders: new Map([['unreadable', null]]), since }),
    isStreamLive: () => true,
  })
  await read('young', since)
  await read('old', new Date(since.getTime() - 1))
  await read('unreadable', since)
  await read('refunded next')
  expect(asked).toEqual(['old', 'unreadable', 'refunded next'])
  // What is known to be absent is asked for again where that decides a refund.
  await read('young', since)
  await read('young')
  await read('young')
  expect(asked.slice(3)).toEqual(['young', 'young'])
})
