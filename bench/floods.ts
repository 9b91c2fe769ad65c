import { randomBytes } from 'node:crypto'
import { bytesToHex } from '../src/protocol/hex.js'
import { publicKeyOf } from '../src/protocol/publicKey.js'
import { startFlood, wire } from '../test/support/flood.js'
import { bar, type Cells, type Figure } from './support/figure.js'
import type { LoadPlan, LoadRequest } from './support/load.js'
import { pageRequests } from './support/orders.js'
import { startPlatform } from './support/platform.js'

const ROUND_MS = 12_000
/** Later answers are of no use. */
const USEFUL_MS = 1_000
const CONNECTIONS = 300
const DEPTH = 10
/** Each asks four times a second, well below its rate. */
const HONEST_CLIENTS = 40
const HONEST_PER_SECOND = 160
const JUNK = 5_000
const BAR = 0.9
const REFUSALS = [429, 503]
const CLIENTS_OF_A_NET = 250

/** Honest clients, and one that floods the server at the same time. */
export const floods: Figure = {
  name: 'floods',
  title: 'Floods',
  async prepare(context) {
    const platform = await startPlatform(context)
    const { url } = platform.server
    const requests = await pageRequests(platform)
    const honest: LoadPlan = {
      urls: [url],
      requests,
      connections: HONEST_CLIENTS,
      perSecond: HONEST_PER_SECOND,
      durationMs: ROUND_MS,
      usefulMs: USEFUL_MS,
      clients: {
        addresses: Array.from({ length: HONEST_CLIENTS }, (_, index) => `127.0.1.${index + 1}`),
        halfReconnect: true,
      },
    }
    const floodsByName: Readonly<Record<string, readonly LoadRequest[]>> = {
      none: [],
      'GET /health': [{ method: 'GET', path: '/health' }],
      'POST /relay, no token': [{ method: 'POST', path: '/relay', body: '{}' }],
      'GET /wallet, unchanged': requests.filter(({ path }) => path.startsWith('/wallet/')),
      'POST /orders, junk': junkOrders(),
    }
    let clients = 0

    async function withstand(flood: readonly LoadRequest[]): Promise<Cells> {
      const texts = flood.map(({ method, path, body }) => wire(method, path, body))
      let next = 0
      const net = 2 + Math.floor(clients / CLIENTS_OF_A_NET)
      const hostile = startFlood({
        url,
        // A new client each time, which has its whole rate left.
        localAddress: `127.0.${net}.${1 + (clients++ % CLIENTS_OF_A_NET)}`,
        connections: flood.length === 0 ? 0 : CONNECTIONS,
        depth: DEPTH,
        request: () => texts[next++ % texts.length] ?? '',
        reconnects: true,
      })
      const { good, due, p50Ms, p99Ms } = await context.generator.load(honest)
      hostile.stop()
      let [answered, refused] = [0, 0]
      for (const [status, count] of hostile.answers()) {
        if (REFUSALS.includes(status)) refused += count
        else answered += count
      }
      const perSecond = (count: number) => (count * 1_000) / ROUND_MS
      return {
        'honest share': good / due,
        'p50 ms': p50Ms,
        'p99 ms': p99Ms,
        'answered/s': perSecond(answered),
        'refused/s': perSecond(refused),
        'opened/s': perSecond(hostile.opened()),
      }
    }

    const named = Object.entries(floodsByName)
    return {
      rows: Object.fromEntries(named.map(([name, flood]) => [name, () => withstand(flood)])),
      bars: named.slice(1).map(([name]) => bar('honest share', name, { atLeast: BAR })),
      notes: [
        `an honest answer counts within ${USEFUL_MS} ms of when its request was due`,
        "answered/s, refused/s (429 and 503) and opened/s are the hostile client's",
      ],
    }
  },
}

/** Well-formed orders without an escrow: only the chain can tell. */
function junkOrders(): LoadRequest[] {
  const hex = (length: number) => bytesToHex(randomBytes(length))
  const epk = publicKeyOf(randomBytes(32))
  return Array.from({ length: JUNK }, () => ({
    method: 'POST',
    path: '/orders',
    body: JSON.stringify({ orderId: hex(32), epk, iv: hex(12), ct: hex(64), tag: hex(16) }),
  }))
}
