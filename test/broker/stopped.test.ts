// A process that stands still on its way to a request, as a suspended machine does, told by its clock: the order must not go out then.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { ClientRequest, createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSharedBroker } from '../../src/broker/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'

const pem = readFileSync(fileURLToPath(new URL('support/localhost.pem', import.meta.url)), 'utf8')
/** How old the look at the chain may be, and how long the process stands still. */
const BOUND_MS = 3_000
const STOP_MS = 4_000

let sent = 0
const answer: RequestListener = (request, response) => {
  if (request.method === 'POST') sent++
  const [example, change] =
    request.method === 'POST'
      ? [alpacaExample('order-accepted'), { client_order_id: 'order' }]
      : [alpacaExample('asset'), {}]
  request.resume().on('end', () => response.end(JSON.stringify({ ...Object(example), ...change })))
}
const servers = { http: createServer(answer), https: createTlsServer({ key: pem, cert: pem }, answer) }
const urls = { http: '', https: '' }
const trusted = getCACertificates('default')

beforeAll(async () => {
  setDefaultCACertificates([...trusted, pem])
  for (const scheme of ['http', 'https'] as const) {
    const server = servers[scheme].listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no TCP address')
    urls[scheme] = `${scheme}://localhost:${address.port}`
  }
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => {
  setDefaultCACertificates(trusted)
  for (const server of Object.values(servers)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Has the clock leap at a point on the way of a request. @returns to be called at the points that the test itself passes */
function standStillAt(point: string): (here: string) => void {
  let stopped = 0
  let hasLooked = false
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() + stopped)
  const pass = (here: string) => {
    if (here === 'looked at') hasLooked = true
    if (here === point) stopped += STOP_MS
  }
  // Before the listeners of the code under test.
  const { connect } = Socket.prototype
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args) {
    // The stream of trade updates connects on its own.
    if (!hasLooked) return connect.apply(this, args)
    pass('connecting')
    this.prependOnceListener('lookup', () => pass('resolved'))
    this.prependOnceListener('connect', () => pass('connected'))
    this.prependOnceListener('secureConnect', () => pass('secured'))
    return connect.apply(this, args)
  })
  const { emit } = ClientRequest.prototype
  vi.spyOn(ClientRequest.prototype, 'emit').mockImplementation(function (this: ClientRequest, ...args) {
    if (args[0] === 'socket') pass('assigned')
    return emit.apply(this, args)
  })
  return pass
}

/** Places an order. Resolves with how that ended. */
async function place(scheme: 'http' | 'https', point: string): Promise<string> {
  const [url, keys] = [urls[scheme], { keyId: 'key', secretKey: 'secret' }]
  const broker = createSharedBroker({ tradingUrl: url, dataUrl: url, ...keys, timeoutMs: 10_000 })
  // The connection stands already.
  if (point === 'looked at, on a warm connection') await broker.getAsset('AAPL')
  const pass = standStillAt(point)
  const placement = await broker.reserve({ orderId: 'a', openedAt: 1, withinMs: 10_000 })
  pass('granted')
  await nextTurn()
  const lookedAt = Date.now()
  await nextTurn()
  pass('looked at')
  pass('looked at, on a warm connection')
  try {
    const sending = placement?.send(
      { symbol: 'AAPL', side: 'buy', notional: 500_000_000n, clientOrderId: 'order' },
      {
        beforeSend() {
          if (Date.now() - lookedAt > BOUND_MS) throw new Error('too late')
        },
      },
    )
    pass('asked for')
    await sending
    return 'sent'
  } catch (error) {
    return error instanceof Error ? error.message : 'failed'
  } finally {
    broker.close()
  }
}

describe.each(['http', 'https'] as const)('before its %s request, an order', (scheme) => {
  const late = ['looked at', 'looked at, on a warm connection', 'asked for', 'connecting', 'resolved']
  late.push('connected', 'assigned', ...(scheme === 'https' ? ['secured'] : []))

  it.each(['nowhere', 'granted'])('is sent when the process stands still %s', async (point) => {
    sent = 0
    expect([await place(scheme, point), sent]).toEqual(['sent', 1])
  })

  it.each(late)('is not sent when the look at the chain has become too old once it is %s', async (point) => {
    sent = 0
    expect([await place(scheme, point), sent]).toEqual(['too late', 0])
  })
})
