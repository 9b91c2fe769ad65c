// Actor: a stranger with a network connection and nothing else: no wallet, no KYC, no gas.
// Cost: one machine at one address, which holds 300 connections and pipelines ten requests on each.
// Effect: `POST /relay` without the token and `GET /health` stood before the rate limit and were exempt
// from load shedding. A refusal by rate went through all of Express, and the server read the next request at
// once. The share of honest requests answered within a second fell from 1.00 to 0.00.
// Now: each client begins a few requests in a turn of the event loop, so its flood waits and others do not. Over its rate it gets 429,
// before a body is read and without a log line for each.
// `npm run bench -- floods` measures the share.
//
// The same stranger needs no rate at all. He sent 303 `POST /orders` from three addresses, or from one behind a
// proxy, with bodies that stop after the first byte. They held every place for requests under way until
// `REQUEST_TIMEOUT`, and every other client got 503. With a share for each client, ten addresses or ten networks of one
// IPv6 /48 did the same.
// Now: a request takes its place when its body has arrived.
//
// Nor does the stranger wait to be read again: four connections, each of which pipelines 150 requests, resets and
// connects anew, had every request answered. The honest share was 0.
// Now: what such a connection has sent is dropped with it.
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { type Flood, startFlood, wire } from '../support/flood.js'
import { ORG, setUpInstitution } from '../support/institution.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { startServerProcess } from '../support/serverProcess.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { junk, randomHex } from './support/junkPosters.js'

const CONNECTIONS = 300
/** Of a route or of a limit. */
const ANSWERS = [200, 202, 204, 401, 429, 503]
const DEPTH = 10
const RATE = 600
const HOSTILE = '127.0.0.2'
const HONEST = ['127.0.1.1', '127.0.1.2', '127.0.1.3', '127.0.1.4']
/** Honest requests, one after the other. */
const HONEST_REQUESTS = 8
const PATIENT = {
  // The machine of the tests runs everything else too.
  REQUEST_TIMEOUT: '3m',
  RATE_LIMIT_PER_MINUTE: String(RATE),
}

const chain = useChain(setUpInstitution)
async function startServer(environment: Record<string, string> = {}) {
  const DATA_DIR = await temporaryDirectory()
  return await startServerProcess({ ...chainEnvironment(chain()), DATA_DIR, ...PATIENT, ...environment })
}

interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly from?: string | undefined
  readonly authorization?: string
}

interface Told {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
}

/** One request on a connection of its own. */
async function ask(url: string, path: string, { method = 'GET', from, authorization }: Asked = {}) {
  const headers = authorization === undefined ? {} : { authorization }
  return await new Promise<Told>((resolve, reject) => {
    const call = request(
      `${url}${path}`,
      { method, headers, localAddress: from, agent: false },
      (response) => {
        const { statusCode: status = 0, headers: told } = response
        text(response).then((body) => resolve({ status, body, retryAfter: told['retry-after'] }), reject)
      },
    )
    call.on('error', reject)
    call.end()
  })
}

/** The requests of honest clients, each within its rate. */
async function askHonestly(url: string): Promise<void> {
  for (let n = 0; n < HONEST_REQUESTS; n++) {
    const path = n % 2 === 0 ? `/wallet/${chain().account('alice')}` : `/org/${ORG}`
    const { status } = await ask(url, path, { from: HONEST[n % HONEST.length] ?? HOSTILE })
    expect([path, status]).toEqual([path, 200])
  }
}

function flood(url: string, hostileRequest: () => string): Flood {
  const started = startFlood({
    url,
    localAddress: HOSTILE,
    connections: CONNECTIONS,
    depth: DEPTH,
    request: hostileRequest,
  })
  onTestFinished(() => started.stop())
  return started
}

const total = (answers: ReadonlyMap<number, number>) => [...answers.values()].reduce((sum, n) => sum + n, 0)

describe.each([
  ['GET /health', () => wire('GET', '/health')],
  ['POST /relay without the token', () => wire('POST', '/relay', '{}')],
  ['GET of a view', () => wire('GET', `/wallet/${chain().account('alice')}`)],
  [
    'POST /orders with junk',
    () => wire('POST', '/orders', JSON.stringify({ orderId: randomHex(32), ...junk(64) })),
  ],
  ['results of runs without a signature', () => wire('POST', `/runs/${crypto.randomUUID()}/result`, '{}')],
  ['preflights', preflight],
])('a flood of %s', (_what, hostileRequest) => {
  it('has every honest request answered, and each of its own with a status', async () => {
    const { url } = await startServer()
    const { answers, held } = flood(url, hostileRequest)
    await eventually('more answers than a minute allows', () => total(answers()) > RATE)
    await askHonestly(url)
    expect([...answers().keys()].filter((status) => !ANSWERS.includes(status))).toEqual([])
    expect(held()).toBe(CONNECTIONS)
  })
})

function preflight(): string {
  return [
    'OPTIONS /orders HTTP/1.1',
    'Host: localhost',
    `Origin: ${SERVER_ENVIRONMENT.FRONTEND_ORIGIN}`,
    'Access-Control-Request-Method: POST',
    '\r\n',
  ].join('\r\n')
}

describe('a client that resets its connections and opens new ones', () => {
  const PIPELINED = 150

  it('is refused, while every honest request is answered', async () => {
    const { url } = await startServer({ RATE_LIMIT_PER_MINUTE: '60' })
    const { hostname, port } = new URL(url)
    const hostile = wire('POST', '/relay', '{}').repeat(PIPELINED)
    const attack = () =>
      new Promise<void>((resolve) => {
        const socket = connect({ host: hostname, port: Number(port), localAddress: HOSTILE })
        socket.on('error', () => undefined)
        socket.on('close', () => resolve())
        socket.on('connect', () => socket.write(hostile, () => socket.resetAndDestroy()))
      })
    const refusal = await eventually('a refusal', async () => {
      await Promise.all([attack(), attack(), attack(), attack()])
      const answer = await ask(url, '/relay', { method: 'POST', from: HOSTILE })
      return answer.status === 429 && answer
    })
    expect(Number(refusal.retryAfter)).toBeGreaterThan(0)
    await askHonestly(url)
  })
})

describe('thirty-two half-sent orders each', () => {
  const PER_ADDRESS = 32
  const ADDRESSES = 64
  /** Fewer places than half-sent orders. */
  const FEW = { MAX_UNDER_WAY: '300' }

  it.each([
    ['64 addresses', (n: number) => ({ localAddress: `127.0.2.${n + 1}`, forwarded: '' }), {}],
    [
      '64 networks of one /48, as a proxy reports them',
      (n: number) => ({
        localAddress: '127.0.0.1',
        forwarded: `X-Forwarded-For: 2001:db8:1:${n.toString(16)}00::1\r\n`,
      }),
      { TRUST_PROXY: '1' },
    ],
  ])('from %s delay no one else', async (_who, from, environment) => {
    const { url } = await startServer({ ...FEW, ...environment })
    const { hostname, port } = new URL(url)
    let connected = 0
    for (let n = 0; n < ADDRESSES * PER_ADDRESS; n++) {
      const { localAddress, forwarded } = from(n % ADDRESSES)
      const socket = connect({ host: hostname, port: Number(port), localAddress })
      onTestFinished(() => {
        socket.destroy()
      })
      socket.on('error', () => undefined)
      const head = `Host: a\r\n${forwarded}Content-Type: application/json\r\nContent-Length: 9`
      socket.write(`POST /orders HTTP/1.1\r\n${head}\r\n\r\n{`, () => connected++)
    }
    await eventually('every half of a request to be sent', () => connected === ADDRESSES * PER_ADDRESS)
    await askHonestly(url)
    for (const address of HONEST) {
      expect((await ask(url, '/orders', { method: 'POST', from: address })).status).toBe(415)
    }
  })
})
