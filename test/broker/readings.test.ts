import { expect, it, onTestFinished } from 'vitest'
import { BrokerError } from '../../src/broker/errors.js'
import type { OrderPage } from '../../src/broker/orders.js'
import { createReadings } from '../../src/broker/readings.js'
import { sharedBrokerOf, startStandIn, usd } from '../support/brokerStandIn.js'

const HOOKS = { beforeSend: () => undefined }

it('a list that does not reach back far enough is read on, each page once', async () => {
  const { url, control, stop } = await startStandIn()
  const [before, broker] = [sharedBrokerOf(url), sharedBrokerOf(url)]
  onTestFinished(async () => {
    for (const each of [before, broker]) each.close()
    await stop()
  })
  const placement = await before.reserve({ orderId: 'old', openedAt: 0, withinMs: 1_000 })
  const order = { symbol: 'AAPL', side: 'buy', notional: usd(10), clientOrderId: 'old' } as const
  const { createdAt } = (await placement?.send(order, HOOKS)) ?? {}
  if (!createdAt) throw new Error('no order')
  const [row] = control.orders()
  const page = Array.from({ length: 500 }, (_, number) => ({
    ...row,
    ...{ id: `id-${number}`, client_order_id: `newer-${number}` },
    created_at: new Date(createdAt.getTime() + 60_000 - number).toISOString(),
  }))
  control.fault({ method: 'GET', path: '/v2/orders', times: 1, respond: { status: 200, body: page } })
  const lists = () =>
    control.requests().filter(({ method, url: path }) => method === 'GET' && path.startsWith('/v2/orders'))
  const read = (id: string, ms: number) => broker.readOrder(id, new Date(createdAt.getTime() + ms))
  expect(await read('written ahead now', 60_000)).toBeNull()
  expect(lists()).toHaveLength(1)
  const found = await Promise.all([
    read('old', -1_000),
    read('newer-1', 0),
    read('written ahead then', -1_000),
  ])
  expect(found.map((each) => each?.clientOrderId)).toEqual(['old', 'newer-1', undefined])
  expect(lists()).toHaveLength(2)
})

const since = new Date('2027-01-05T15:00:00Z')

function readingsOf(newest: () => Promise<OrderPage>) {
  const asked: string[] = []
  const { read } = createReadings({
    async lookUp(clientOrderId) {
      asked.push(clientOrderId)
      return null
    },
    ...{ newest, isStreamLive: () => true },
  })
  return { read, asked }
}

it('a list that cannot be read leaves each order to a look of its own, unless the broker’s rate allows none', async () => {
  const failing = (kind: 'unavailable' | 'rate-limited') =>
    readingsOf(() => Promise.reject(new BrokerError(kind, { route: 'GET /v2/orders' })))
  const { read, asked } = failing('unavailable')
  expect(await read('written ahead', since)).toBeNull()
  expect(asked).toEqual(['written ahead'])
  await expect(failing('rate-limited').read('written ahead', since)).rejects.toThrow('rate-limited')
})

it('absence shows in a list only as far as it reaches, and never where a look of its own is asked for', async () => {
  const { read, asked } = readingsOf(async () => ({ orders: new Map([['unreadable', null]]), since }))
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
