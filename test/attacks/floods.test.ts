// Actor: a stranger with a network connection and nothing else: no wallet, no KYC, no gas.
// Cost: one machine at one address, which holds 300 connections and pipelines ten requests on each.
// Effect: `POST /relay` without the token and `GET /health` were exempt from every limit. A refusal by rate went through all of Express,
// and the server read the next request at once. The share of honest requests answered within a second fell from 1.00 to 0.00.
// Now: each client begins a few requests in a turn of the event loop, so its flood waits and others do not. Over its rate it gets 429,
// before a body is read and without a log line for each. `npm run bench -- floods` measures the share.
// Half-sent orders, and clients that leave and connect anew, are in test/server/http/{limits,connections}.test.ts.
import { once } from 'node:events'
import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { useChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { startFlood, wire } from '../support/flood.js'
import { ORG, setUpInstitution } from '../support/institution.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { startServerProcess } from '../support/serverProcess.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { junk, randomHex } from './support/junkPosters.js'

const CONNECTIONS = 300
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
/** The status of one request on a connection of its own. */
async function statusOf(url: string, localAddress: string): Promise<number | undefined> {
  const call = request(url, { localAddress, agent: false }).end()
  const [response] = await once(call, 'response')
  response.resume()
  return response.statusCode
}

/** The requests of honest clients, each within its rate. */
async function askHonestly(url: string): Promise<void> {
  for (let n = 0; n < HONEST_REQUESTS; n++) {
    const path = n % 2 === 0 ? `/wallet/${chain().account('alice')}` : `/org/${ORG}`
    expect(await statusOf(`${url}${path}`, HONEST[n % HONEST.length] ?? HOSTILE), path).toBe(200)
  }
}

const total = (answers: ReadonlyMap<number, number>) => [...answers.values()].reduce((sum, n) => sum + n, 0)

it.each([
  ['GET /health', () => wire('GET', '/health')],
  ['POST /relay without the token', () => wire('POST', '/relay', '{}')],
  [
    'POST /orders with junk',
    () => wire('POST', '/orders', JSON.stringify({ orderId: randomHex(32), ...junk(64) })),
  ],
  ['preflights', preflight],
])(
  'a flood of %s has every honest request answered, and each of its own with a status',
  async (_what, hostile) => {
    const DATA_DIR = await temporaryDirectory()
    const { url } = await startServerProcess({ ...chainEnvironment(chain()), DATA_DIR, ...PATIENT })
    const load = { localAddress: HOSTILE, connections: CONNECTIONS, depth: DEPTH }
    const { answers, held, stop } = startFlood({ url, ...load, request: hostile })
    onTestFinished(stop)
    await eventually('more answers than a minute allows', () => total(answers()) > RATE)
    await askHonestly(url)
    expect([...answers().keys()].filter((status) => !ANSWERS.includes(status))).toEqual([])
    expect(held()).toBe(CONNECTIONS)
  },
)

function preflight(): string {
  return [
    'OPTIONS /orders HTTP/1.1',
    'Host: localhost',
    `Origin: ${SERVER_ENVIRONMENT.FRONTEND_ORIGIN}`,
    'Access-Control-Request-Method: POST',
    '\r\n',
  ].join('\r\n')
}
