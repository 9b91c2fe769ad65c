import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerStandIn } from '../../src/simulator/index.js'
import {
  brokerOf,
  ENCLAVE_ACCOUNT,
  type PlacingBroker,
  SERVER_ACCOUNT,
  startStandIn,
  usd,
} from '../support/brokerStandIn.js'

let standIn: BrokerStandIn
let broker: PlacingBroker
beforeEach(async () => {
  standIn = await startStandIn()
  broker = brokerOf(standIn.url)
})
afterEach(() => standIn.stop())

/** As a person at a terminal steers the sandbox's broker. */
async function steer(command: string, input: object): Promise<void> {
  const init = { method: 'POST', body: JSON.stringify(input) }
  expect((await fetch(`${standIn.url}/sandbox/${command}`, init)).status).toBe(204)
}

async function view(name: string): Promise<unknown> {
  return (await fetch(`${standIn.url}/sandbox/${name}`)).json()
}

const buy = (clientOrderId: string) =>
  broker.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(10), clientOrderId })

it('a fault that is steered over HTTP loses the answer to an order that was placed', async () => {
  await steer('fault', { method: 'POST', path: '/v2/orders', drop: 'after' })
  await expect(buy('lost')).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(await broker.getOrderByClientOrderId('lost')).toMatchObject({ state: 'filled' })
  await expect(buy('lost')).rejects.toMatchObject({ kind: 'rejected', status: 422 })
})

it('a fault that is steered over HTTP cuts the connection before the order is placed', async () => {
  await steer('fault', { method: 'POST', path: '/v2/orders', drop: 'before' })
  await expect(buy('cut')).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(await broker.getOrderByClientOrderId('cut')).toBeNull()
  expect(await buy('cut')).toMatchObject({ clientOrderId: 'cut' })
})

it('a fault that is steered over HTTP answers instead of the broker, so many times, on the path and for the account that are named', async () => {
  await steer('fault', {
    path: '/v2/clock',
    account: 'enclave',
    times: 2,
    respond: {
      status: 429,
      body: { code: 42910000, message: 'm' },
      headers: { 'X-RateLimit-Reset': '1674044551' },
    },
  })
  await steer('fault', { account: 'server', times: 9, respond: { status: 500, body: {} } })
  await broker.getAccount()
  const limited = { kind: 'rate-limited', resetAt: new Date(1674044551000) }
  await expect(broker.getClock()).rejects.toMatchObject(limited)
  await expect(broker.getClock()).rejects.toMatchObject(limited)
  await broker.getClock()
})

it('a fault that is steered over HTTP delays, and can be cleared', async () => {
  await steer('fault', { path: '/v2/clock', delayMs: 20 })
  await broker.getClock()
  await steer('fault', { times: 5, respond: { status: 503, body: {} } })
  await expect(broker.getClock()).rejects.toMatchObject({ kind: 'unavailable', status: 503 })
  await steer('clear', { what: 'faults' })
  await broker.getClock()
})

it('the rate limit refuses per account with the time of its reset', async () => {
  await steer('limit', { perMinute: 2 })
  // A client of its own for each call, which knows nothing of the others.
  const ask = (account = ENCLAVE_ACCOUNT) => brokerOf(standIn.url, account).getClock()
  await ask()
  await ask()
  await expect(ask()).rejects.toMatchObject({ kind: 'rate-limited', resetAt: expect.any(Date) })
  await ask(SERVER_ACCOUNT)
  await steer('limit', { perMinute: null })
  await ask()
})

it('views show all orders, balances and requests, without keys', async () => {
  await buy('seen')
  await expect(broker.getOrderByClientOrderId('unseen')).resolves.toBeNull()
  expect(await view('orders')).toMatchObject([
    {
      account: 'enclave',
      client_order_id: 'seen',
      symbol: 'AAPL',
      side: 'buy',
      status: 'filled',
      notional: '10',
    },
  ])
  expect(await view('accounts')).toMatchObject([
    { name: 'enclave', positions: { AAPL: '0.0499975' } },
    { name: 'server', cash: '0', positions: {} },
  ])
  const requests = await view('requests')
  expect(requests).toMatchObject([
    {
      account: 'enclave',
      method: 'POST',
      url: '/v2/orders',
      outcome: 200,
      body: { client_order_id: 'seen' },
    },
    { method: 'GET', url: '/v2/orders:by_client_order_id?client_order_id=unseen', outcome: 404 },
  ])
  expect(JSON.stringify(requests)).not.toMatch(/enclave-secret|PKENCLAVE/)
})

it('commands reach the stand-in as they do in-process', async () => {
  await steer('clock', { open: false, nextOpen: '2040-01-03T09:30:00-05:00' })
  expect((await broker.getClock()).nextOpen).toEqual(new Date('2040-01-03T14:30:00Z'))
  await steer('fill', { mode: 'hold' })
  await steer('price', { symbol: 'AAPL', price: '10' })
  await steer('clock', { open: true })
  await buy('held')
  await steer('end', { clientOrderId: 'held', status: 'expired' })
  expect(await broker.getOrderByClientOrderId('held')).toMatchObject({ state: 'expired' })
  await steer('clear', { what: 'fills' })
  await buy('free')
  expect(await broker.getOrderByClientOrderId('free')).toMatchObject({ state: 'filled' })
})

it.each([
  ['POST', 'price', '{"symbol":"NOPE","price":"1"}', 400],
  ['POST', 'price', '{"symbol":"AAPL","price":"-1"}', 400],
  ['POST', 'price', '{"symbol":"AAPL","price":"1.12345678"}', 400],
  ['POST', 'account', '{"name":"nobody"}', 400],
  ['POST', 'clock', '{"open":true,"typo":1}', 400],
  ['POST', 'clock', 'not json', 400],
  ['POST', 'toString', '{}', 404],
  ['POST', 'orders', '{}', 404],
])('commands %s /sandbox/%s %s is answered %i', async (method, path, body, status) => {
  const response = await fetch(`${standIn.url}/sandbox/${path}`, { method, body })
  expect(response.status).toBe(status)
  expect(Object(await response.json()).message).toBeTruthy()
})

it.each(['http://localhost:5173', 'https://elsewhere.example', 'null'])(
  'a page in a browser at %s is refused what needs no keys',
  async (origin) => {
    const headers = { origin, 'content-type': 'text/plain' }
    const body = '{"name":"enclave","cash":"0"}'
    const steered = await fetch(`${standIn.url}/sandbox/account`, { method: 'POST', headers, body })
    expect(steered.status).toBe(403)
    expect((await fetch(`${standIn.url}/sandbox/accounts`, { headers: { origin } })).status).toBe(403)
    expect(await view('accounts')).toMatchObject([{ name: 'enclave', cash: '100000' }, {}])
  },
)

it('the server answers unknown routes, bad JSON and bodies too large', async () => {
  const keys = { 'APCA-API-KEY-ID': 'PKENCLAVE', 'APCA-API-SECRET-KEY': 'enclave-secret' }
  const status = async (path: string, init: RequestInit) =>
    (await fetch(standIn.url + path, { headers: keys, ...init })).status
  expect(await status('/v2/watchlists', {})).toBe(404)
  expect(await status('/v2/orders', { method: 'POST', body: '{' })).toBe(400)
  expect(await status('/v2/orders', { method: 'POST', body: 'x'.repeat(100_000) })).toBe(400)
  expect(await status('/v2/orders/not-a-uuid', { method: 'DELETE' })).toBe(422)
})
