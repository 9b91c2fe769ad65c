import type { RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { BrokerError, createBroker } from '../../src/broker/index.js'
import { type PlacingBroker, placingBroker, usd } from '../support/brokerStandIn.js'
import { CLOSED_URL, startRawServer } from '../support/rawServer.js'

const KEY_ID = 'PKCANARYKEYID'
const SECRET = 'CANARYSECRET'
const ORDER = { symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: 'client-order-1' } as const

function client(url: string, timeoutMs = 5_000): PlacingBroker {
  return placingBroker({ tradingUrl: `${url}/`, dataUrl: url, keyId: KEY_ID, secretKey: SECRET, timeoutMs })
}

/** The BrokerError that a call fails with. */
async function failure(call: Promise<unknown>): Promise<BrokerError> {
  const error = await call.catch((reason: unknown) => reason)
  if (!(error instanceof BrokerError)) throw new Error(`expected a BrokerError, got ${inspect(error)}`)
  return error
}

/** How a read, a placing and a cancelling fail at the same server. */
async function failures(broker: PlacingBroker) {
  const calls = [broker.getClock(), broker.placeOrder(ORDER), broker.cancelOrder('1')]
  return Promise.all(calls.map(failure))
}

const answer =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body)
const UNREADABLE = ['<html>', '', 'null', '[]', '{"is_open":"yes"}']

it.each<[string, RequestListener, timeoutMs?: number]>([
  ['time-out', () => undefined, 50],
  ['a reset connection', (request) => request.socket.resetAndDestroy()],
  [
    'a body that never ends',
    (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"time'),
    50,
  ],
  [
    'a connection that closes in the middle of the body',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '500' }).write('{')
      setImmediate(() => response.destroy())
    },
  ],
  ...[500, 502, 503, 504, 408, 302, 307].map((status): [string, RequestListener] => [
    `status ${status}`,
    answer(status, '{"code":1,"message":"x"}'),
  ]),
])('a request is ambiguous on %s, unless it only reads', async (_name, listener, timeoutMs) => {
  const found = await failures(client(await startRawServer(listener), timeoutMs))
  expect(found.map(({ kind }) => kind)).toEqual(['unavailable', 'ambiguous', 'ambiguous'])
  if (timeoutMs !== undefined) expect(found.map(({ reason }) => reason)).toEqual(Array(3).fill('timeout'))
})

it.each(UNREADABLE)('a request is ambiguous on a 200 with %j, unless it only reads', async (body) => {
  const broker = client(await startRawServer(answer(200, body)))
  expect((await failure(broker.getClock())).kind).toBe('unavailable')
  expect((await failure(broker.placeOrder(ORDER))).kind).toBe('ambiguous')
})

it('a request follows no redirect, which could hand the keys to another host', async () => {
  let followed = 0
  const elsewhere = await startRawServer((_request, response) => {
    followed += 1
    response.writeHead(200).end('{}')
  })
  const url = await startRawServer((_request, response) => {
    response.writeHead(307, { location: elsewhere }).end()
  })
  await failures(client(url))
  expect(followed).toBe(0)
})

it('a request does not read a huge body to its end', async () => {
  let written = 0
  const url = await startRawServer((_request, response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024, 0x20)
    const pump = () => {
      while (!response.destroyed && written < 512 * 1024 * 1024) {
        written += chunk.length
        if (!response.write(chunk)) return response.once('drain', pump)
      }
      return response.end()
    }
    pump()
  })
  const error = await failure(client(url).placeOrder(ORDER))
  expect(error).toMatchObject({ kind: 'ambiguous', reason: 'oversized' })
  expect(written).toBeLessThan(64 * 1024 * 1024)
})

it('a request that was never sent is unavailable, even one that changes something', async () => {
  for (const { kind, reason } of await failures(client(CLOSED_URL)))
    expect([kind, reason]).toEqual(['unavailable', 'ECONNREFUSED'])
})

it.each([
  [400, 'rejected'],
  [401, 'unauthorized'],
  [403, 'rejected'],
  [404, 'not-found'],
  [409, 'rejected'],
  [429, 'rate-limited'],
])('a definite refusal %i is %s, whatever its body', async (status, kind) => {
  for (const body of [...UNREADABLE, '{"message":7}', '{"code":"x","message":"m"}']) {
    const url = await startRawServer(answer(status, body))
    expect(await failure(client(url).placeOrder(ORDER))).toMatchObject({ kind, status, code: undefined })
  }
})

it('a request has the keys as headers, a market order for the day as JSON, amounts as decimal strings', async () => {
  const seen: unknown[] = []
  const url = await startRawServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { 'apca-api-key-id': keyId, 'apca-api-secret-key': secret, 'content-type': type } = request.headers
    const { method, url } = request
    seen.push({ method, url, keyId, secret, type, body: body && JSON.parse(body) })
    response.writeHead(method === 'GET' ? 404 : 403).end()
  })
  const broker = client(url)
  await failure(broker.placeOrder({ ...ORDER, notional: usd(1234.5) }))
  const { notional: _, ...sale } = ORDER
  await failure(broker.placeOrder({ ...sale, side: 'sell', qty: 1n }))
  await failure(broker.getSnapshots(['AAPL', 'BRK.B']))
  // An id cannot leave its place in the path.
  expect(await broker.getAsset('../account?x=1')).toBeNull()
  const auth = { keyId: KEY_ID, secret: SECRET }
  const common = { symbol: 'AAPL', type: 'market', time_in_force: 'day', client_order_id: 'client-order-1' }
  const post = { method: 'POST', url: '/v2/orders', ...auth, type: 'application/json' }
  const get = { method: 'GET', ...auth, type: undefined, body: '' }
  expect(seen).toEqual([
    { ...post, body: { ...common, side: 'buy', notional: '1234.5' } },
    { ...post, body: { ...common, side: 'sell', qty: '0.000000001' } },
    { ...get, url: '/v2/stocks/snapshots?symbols=AAPL%2CBRK.B&feed=iex' },
    { ...get, url: '/v2/assets/..%2Faccount%3Fx%3D1' },
  ])
})

it('keys stay out of errors of every kind', async () => {
  const echo = await startRawServer((request, response) => {
    response.writeHead(request.method === 'GET' ? 500 : 403).end('{"code":1,"message":"no"}')
  })
  const reset = await startRawServer((request) => request.socket.resetAndDestroy())
  for (const url of [echo, reset, CLOSED_URL]) {
    for (const error of await failures(client(url))) {
      const shown = `${inspect(error, { depth: 10, showHidden: true })}${JSON.stringify(error)}${error.stack}`
      expect(shown).not.toContain(SECRET)
      expect(shown).not.toContain(KEY_ID)
      expect(error.message).not.toContain('AAPL')
    }
  }
})

it('a key that is no header value is refused without being quoted', () => {
  for (const secretKey of ['CANARY\nSECRET', '', 'é']) {
    const create = () =>
      createBroker({ tradingUrl: 'http://x', dataUrl: 'http://x', keyId: 'a', secretKey, timeoutMs: 1 })
    expect(create).toThrow(/^"secretKey" expected printable ASCII without spaces$/)
  }
})
