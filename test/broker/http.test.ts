import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { BrokerError, createBroker } from '../../src/broker/index.js'
import { brokerOf, type PlacingBroker, placingBroker, usd } from '../support/brokerStandIn.js'
import { closedUrl, startRawServer } from '../support/rawServer.js'

const KEY_ID = 'PKCANARYKEYID'
const SECRET = 'CANARYSECRET'
const ORDER = { symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: 'client-order-1' } as const

function client(url: string, timeoutMs = 5_000): PlacingBroker {
  return placingBroker({ tradingUrl: `${url}/`, dataUrl: url, keyId: KEY_ID, secretKey: SECRET, timeoutMs })
}

/** The BrokerError that a call fails with. */
async function failure(call: Promise<unknown>): Promise<BrokerError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof BrokerError)) throw new Error(`expected a BrokerError, got ${inspect(error)}`)
  return error
}

/** The kinds of failure of a read, a placing and a cancelling at the same server. */
async function kinds(broker: PlacingBroker) {
  return {
    read: (await failure(broker.getClock())).kind,
    place: (await failure(broker.placeOrder(ORDER))).kind,
    cancel: (await failure(broker.cancelOrder('1'))).kind,
  }
}

const NO_ANSWER = { read: 'unavailable', place: 'ambiguous', cancel: 'ambiguous' }

it('a request is ambiguous on time-out, unless it only reads', async () => {
  const url = await startRawServer(() => {})
  expect(await kinds(client(url, 50))).toEqual(NO_ANSWER)
  expect((await failure(client(url, 50).getClock())).reason).toBe('timeout')
})

it('a request is ambiguous when the connection is reset', async () => {
  const url = await startRawServer((request) => request.socket.resetAndDestroy())
  expect(await kinds(client(url))).toEqual(NO_ANSWER)
})

it.each([500, 502, 503, 504, 408, 302, 307])('a request is ambiguous on %i', async (status) => {
  const url = await startRawServer((_request, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('{"code":1,"message":"x"}')
  })
  expect(await kinds(client(url))).toEqual(NO_ANSWER)
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
  expect(await kinds(client(url))).toEqual(NO_ANSWER)
  expect(followed).toBe(0)
})

it.each([
  ['no JSON', '<html>'],
  ['an empty body', ''],
  ['null', 'null'],
  ['an array', '[]'],
  ['another shape', '{"is_open":"yes"}'],
])('a request is ambiguous on a 200 with %s', async (_name, body) => {
  const url = await startRawServer((_request, response) => response.writeHead(200).end(body))
  const broker = client(url)
  expect((await failure(broker.getClock())).kind).toBe('unavailable')
  expect((await failure(broker.placeOrder(ORDER))).kind).toBe('ambiguous')
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
  const broker = client(await closedUrl())
  expect(await kinds(broker)).toEqual({ read: 'unavailable', place: 'unavailable', cancel: 'unavailable' })
  expect((await failure(broker.placeOrder(ORDER))).reason).toBe('ECONNREFUSED')
})

it.each([
  [400, 'rejected'],
  [401, 'unauthorized'],
  [403, 'rejected'],
  [404, 'not-found'],
  [409, 'rejected'],
  [429, 'rate-limited'],
])('a definite refusal %i is %s, whatever its body', async (status, kind) => {
  for (const body of ['', '<html>', '[]', '{"message":7}', '{"code":"x","message":"m"}']) {
    const url = await startRawServer((_request, response) => response.writeHead(status).end(body))
    expect(await failure(client(url).placeOrder(ORDER))).toMatchObject({ kind, status, code: undefined })
  }
})

it('a definite refusal carries code and the time of the reset', async () => {
  const url = await startRawServer((_request, response) => {
    const headers = {
      'X-RateLimit-Limit': '200',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1674044551',
    }
    response.writeHead(429, headers).end(JSON.stringify({ code: 42910000, message: 'm'.repeat(5_000) }))
  })
  const error = await failure(client(url).getClock())
  expect(error).toMatchObject({ kind: 'rate-limited', code: 42910000, resetAt: new Date(1674044551000) })
})

it('a request has the keys as headers, a market order for the day as JSON, amounts as decimal strings', async () => {
  const seen: unknown[] = []
  const url = await startRawServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({
      method: request.method,
      url: request.url,
      keyId: request.headers['apca-api-key-id'],
      secret: request.headers['apca-api-secret-key'],
      type: request.headers['content-type'],
      body: body && JSON.parse(body),
    })
    response.writeHead(403).end()
  })
  const broker = client(url)
  await failure(broker.placeOrder({ ...ORDER, notional: usd(1234.5) }))
  const { notional: _, ...sale } = ORDER
  await failure(broker.placeOrder({ ...sale, side: 'sell', qty: 1n }))
  await failure(broker.getSnapshots(['AAPL', 'BRK.B']))
  const auth = { keyId: KEY_ID, secret: SECRET }
  const common = { symbol: 'AAPL', type: 'market', time_in_force: 'day', client_order_id: 'client-order-1' }
  const post = { method: 'POST', url: '/v2/orders', ...auth, type: 'application/json' }
  expect(seen).toEqual([
    { ...post, body: { ...common, side: 'buy', notional: '1234.5' } },
    { ...post, body: { ...common, side: 'sell', qty: '0.000000001' } },
    {
      method: 'GET',
      url: '/v2/stocks/snapshots?symbols=AAPL%2CBRK.B&feed=iex',
      ...auth,
      type: undefined,
      body: '',
    },
  ])
})

it('no symbols are no request at all', async () => {
  expect((await client('http://127.0.0.1:1').getSnapshots([])).size).toBe(0)
})

it('a request has ids that cannot leave their place in the path', async () => {
  let path: string | undefined
  const url = await startRawServer((request, response) => {
    path = request.url
    response.writeHead(404).end()
  })
  expect(await client(url).getAsset('../account?x=1')).toBeNull()
  expect(path).toBe('/v2/assets/..%2Faccount%3Fx%3D1')
})

it('keys stay out of errors of every kind', async () => {
  const echo = await startRawServer((request, response) => {
    response.writeHead(request.method === 'GET' ? 500 : 403).end('{"code":1,"message":"no"}')
  })
  const reset = await startRawServer((request) => request.socket.resetAndDestroy())
  for (const url of [echo, reset, await closedUrl()]) {
    for (const call of [client(url).getClock(), client(url).placeOrder(ORDER)]) {
      const error = await failure(call)
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

it('any symbol of a snapshot, and any member of it, may be missing or null', async () => {
  const url = await startRawServer((_request, response) => {
    response.end(
      JSON.stringify({
        A: null,
        B: {},
        C: { latestTrade: null, latestQuote: { bp: 0, ap: 10.5 }, unknown: 1 },
        D: { latestTrade: { t: '2021-05-11T20:00:00Z', p: 1.25 }, prevDailyBar: { c: 1e-7 } },
        __proto__: { latestTrade: { p: 1 } },
      }),
    )
  })
  const found = await brokerOf(url).getSnapshots(['A', 'B', 'C', 'D', 'E', 'constructor'])
  expect([...found.keys()]).toEqual(['B', 'C', 'D'])
  expect(found.get('B')).toMatchObject({ last: null, bid: null, ask: null, previousClose: null })
  expect(found.get('C')).toMatchObject({ last: null, bid: null, ask: usd(10.5) })
  expect(found.get('D')).toMatchObject({ last: usd(1.25), previousClose: null })
})

it('a request is ambiguous when the body never ends', async () => {
  const url = await startRawServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"timestamp":')
  })
  expect(await kinds(client(url, 50))).toEqual(NO_ANSWER)
  expect((await failure(client(url, 50).placeOrder(ORDER))).reason).toBe('timeout')
})

it('a request is ambiguous when the connection closes in the middle of the body', async () => {
  const url = await startRawServer((_request, response) => {
    response.writeHead(200, { 'content-length': '500' }).write('{')
    setImmediate(() => response.destroy())
  })
  expect(await kinds(client(url))).toEqual(NO_ANSWER)
})
