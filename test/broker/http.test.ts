import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BrokerError } from '../../src/broker/index.js'
import { type PlacingBroker, placingBroker, usd } from '../support/brokerStandIn.js'
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

describe('a request without a definite answer', () => {
  it('is ambiguous on time-out, unless it only reads', async () => {
    const url = await startRawServer(() => {})
    expect(await kinds(client(url, 50))).toEqual(NO_ANSWER)
    expect((await failure(client(url, 50).getClock())).reason).toBe('timeout')
  })

  it('is ambiguous when the body never ends', async () => {
    const url = await startRawServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"timestamp":')
    })
    expect(await kinds(client(url, 50))).toEqual(NO_ANSWER)
    expect((await failure(client(url, 50).placeOrder(ORDER))).reason).toBe('timeout')
  })

  it('is ambiguous when the connection is reset', async () => {
    const url = await startRawServer((request) => request.socket.resetAndDestroy())
    expect(await kinds(client(url))).toEqual(NO_ANSWER)
  })

  it('is ambiguous when the connection closes in the middle of the body', async () => {
    const url = await startRawServer((_request, response) => {
      response.writeHead(200, { 'content-length': '500' }).write('{')
      setImmediate(() => response.destroy())
    })
    expect(await kinds(client(url))).toEqual(NO_ANSWER)
  })

  it.each([500, 502, 503, 504, 408, 302, 307])('is ambiguous on %i', async (status) => {
    const url = await startRawServer((_request, response) => {
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('{"code":1,"message":"x"}')
    })
    expect(await kinds(client(url))).toEqual(NO_ANSWER)
  })

  it('follows no redirect, which could hand the keys to another host', async () => {
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
  ])('is ambiguous on a 200 with %s', async (_name, body) => {
    const url = await startRawServer((_request, response) => response.writeHead(200).end(body))
    const broker = client(url)
    expect((await failure(broker.getClock())).kind).toBe('unavailable')
    expect((await failure(broker.placeOrder(ORDER))).kind).toBe('ambiguous')
  })

  it('does not read a huge body to its end', async () => {
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
})

describe('a request that was never sent', () => {
  it('is unavailable, even one that changes something', async () => {
    const broker = client(await closedUrl())
    expect(await kinds(broker)).toEqual({ read: 'unavailable', place: 'unavailable', cancel: 'unavailable' })
    expect((await failure(broker.placeOrder(ORDER))).reason).toBe('ECONNREFUSED')
  })
})

describe('a definite refusal', () => {
  it.each([
    [400, 'rejected'],
    [401, 'unauthorized'],
    [403, 'rejected'],
    [404, 'not-found'],
    [409, 'rejected'],
    [429, 'rate-limited'],
  ])('%i is %s, whatever its body', async (status, kind) => {
    for (const body of ['', '<html>', '[]', '{"message":7}', '{"code":"x","message":"m"}']) {
      const url = await startRawServer((_request, response) => response.writeHead(status).end(body))
      expect(await failure(client(url).placeOrder(ORDER))).toMatchObject({ kind, status, code: undefined })
    }
  })

  it('carries code and the time of the reset', async () => {
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

  it.each(['soon', '', '-1', '1e9'])('has no reset time when the header is %j', async (reset) => {
    const url = await startRawServer((_request, response) => {
      response.writeHead(429, { 'X-RateLimit-Reset': reset }).end()
    })
    expect((await failure(client(url).getClock())).resetAt).toBeUndefined()
  })
})
