import { expect, it } from 'vitest'
import { fillValue } from '../../src/broker/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, shares, usd } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

/** A client of a server that answers every request with one documented example. */
async function answering(name: string, status = 200) {
  const url = await startRawServer((_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(alpacaExample(name)))
  })
  return brokerOf(url)
}

it("the client reads Alpaca's documented example: clock", async () => {
  const broker = await answering('clock')
  expect(await broker.getClock()).toEqual({
    timestamp: new Date('2022-04-28T18:07:04.451Z'),
    isOpen: true,
    nextOpen: new Date('2022-04-29T13:30:00Z'),
    nextClose: new Date('2022-04-28T20:00:00Z'),
  })
})

it("the client reads Alpaca's documented example: snapshots", async () => {
  const broker = await answering('snapshots')
  const snapshots = await broker.getSnapshots(['AAPL', 'MSFT'])
  expect(snapshots.size).toBe(1)
  expect(snapshots.get('AAPL')).toEqual({
    symbol: 'AAPL',
    last: usd(125.91),
    lastAt: new Date('2021-05-11T20:00:00.435Z'),
    bid: usd(125.6),
    ask: usd(125.68),
    previousClose: usd(126.85),
  })
})

it("the client reads Alpaca's documented example: asset", async () => {
  const broker = await answering('asset')
  expect(await broker.getAsset('AAPL')).toEqual({
    symbol: 'AAPL',
    name: 'Apple Inc. Common Stock',
    status: 'active',
    tradable: true,
    fractionable: true,
  })
})

it("the client reads Alpaca's documented example: an accepted order", async () => {
  const broker = await answering('order-accepted')
  const order = await broker.getOrderByClientOrderId('eb9e2aaa-f71a-4f51-b5b4-52a6c565dad4')
  expect(order).toMatchObject({
    symbol: 'AAPL',
    side: 'buy',
    status: 'accepted',
    state: 'live',
    filledQty: 0n,
  })
  expect(order).toMatchObject({ fills: [], notional: usd(500), qty: null })
})

it("the client reads Alpaca's documented example: a filled order", async () => {
  const broker = await answering('order-filled')
  const order = await broker.getOrderByClientOrderId('cc8cc104-fe43-476c-b25c-f62650fb73f9')
  expect(order).toMatchObject({
    state: 'filled',
    qty: shares(3),
    fills: [{ qty: shares(3), avgPrice: '0.43' }],
  })
  expect(order && fillValue(order, 'exact')).toBe(usd(1.29))
})

it("the client reads Alpaca's documented example: positions", async () => {
  const broker = await answering('positions')
  expect(await broker.getPositions()).toEqual([{ symbol: 'AAPL', qty: shares(5) }])
})

it("the client reads Alpaca's documented example: account", async () => {
  const broker = await answering('account')
  expect(await broker.getAccount()).toEqual({
    id: '1d9eed04-be39-4e01-9b84-a48ac5bbafcf',
    status: 'ACTIVE',
    tradingBlocked: false,
    cash: usd(122086.5),
    buyingPower: usd(245432.61),
  })
})

it.each([
  ['error-wash-trade', 403, { kind: 'rejected', status: 403, code: 40310000 }],
  ['error-buying-power', 403, { kind: 'rejected', status: 403, code: 40310000 }],
  ['error-minimum', 403, { kind: 'rejected', status: 403, code: 40310000 }],
  ['error-unauthorized', 401, { kind: 'unauthorized', status: 401, code: undefined }],
  ['error-forbidden', 403, { kind: 'unauthorized', status: 403, code: undefined }],
  ['error-rate-limit', 429, { kind: 'rate-limited', status: 429, code: 42910000 }],
  ['error-not-found', 404, { kind: 'not-found', status: 404, code: 40410000 }],
])("the client reads Alpaca's documented example: %s", async (name, status, expected) => {
  const broker = await answering(name, status)
  const placing = broker.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: 'a' })
  await expect(placing).rejects.toMatchObject(expected)
})

it("the client reads Alpaca's documented example: error-not-cancelable", async () => {
  const broker = await answering('error-not-cancelable', 422)
  expect(await broker.cancelOrder('61e69015-8549-4bfd-b9c3-01e75843f47d')).toBe('not-cancelable')
})
