import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
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

describe('a request that is sent', () => {
  it('keys as headers, a market order for the day as JSON, amounts as decimal strings', async () => {
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

  it('no request at all for no symbols', async () => {
    expect((await client('http://127.0.0.1:1').getSnapshots([])).size).toBe(0)
  })

  it('ids that cannot leave their place in the path', async () => {
    let path: string | undefined
    const url = await startRawServer((request, response) => {
      path = request.url
      response.writeHead(404).end()
    })
    expect(await client(url).getAsset('../account?x=1')).toBeNull()
    expect(path).toBe('/v2/assets/..%2Faccount%3Fx%3D1')
  })
})

describe('keys stay out of errors', () => {
  it('of every kind', async () => {
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

  it('that a key which is no header value is refused without quoting it', () => {
    for (const secretKey of ['CANARY\nSECRET', '', 'é']) {
      const create = () =>
        createBroker({ tradingUrl: 'http://x', dataUrl: 'http://x', keyId: 'a', secretKey, timeoutMs: 1 })
      expect(create).toThrow(/^"secretKey" expected printable ASCII without spaces$/)
    }
  })
})

describe('snapshots', () => {
  it('any symbol and any member of it may be missing or null', async () => {
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
})
