import { randomBytes } from 'node:crypto'
import { bytesToHex } from '../src/protocol/hex.js'
import { publicKeyOf } from '../src/protocol/publicKey.js'
import { pageRequests } from './overload.js'
import type { Bar, Figure, Row } from './support/figure.js'
import {
  type FloodResult,
  type LoadPlan,
  type LoadRequest,
  type LoadResult,
  startGenerator,
} from './support/load.js'
import { startPlatform } from './support/platform.js'
import { currentLoad } from './support/report.js'
import { spreadOf } from './support/statistics.js'

const ROUND_MS = 12_000
/** Later answers are of no use. */
const USEFUL_MS = 1_000
const CONNECTIONS = 300
const DEPTH = 10
/** Each asks four times a second, well below its rate. */
const HONEST_CLIENTS = 40
const HONEST_PER_SECOND = 160
/** The limits per client as they are by default, which the rest of the bench lifts. */
const LIMITED = {
  RATE_LIMIT_PER_MINUTE: '600',
  MAX_CONNECTIONS_PER_CLIENT: '128',
  MAX_UNDER_WAY_PER_CLIENT: '32',
}
const JUNK = 5_000
const BAR = 0.9
const REFUSED: ReadonlySet<string> = new Set(['429', '503'])

/** Honest clients, and one that floods the server at the same time; null when none does. */
interface Level {
  readonly honest: LoadResult
  readonly hostile: FloodResult | null
  readonly load: number
}

export const floods: Figure = {
  name: 'floods',
  title: 'Floods',
  async measure({ nodeOptions, rounds, print }) {
    const platform = await startPlatform({ nodeOptions, print, settings: LIMITED })
    const generators = { honest: startGenerator(), hostile: startGenerator() }
    try {
      const { url } = platform.server
      const requests = await pageRequests(platform)
      const honestPlan: LoadPlan = {
        ...{ url, requests, connections: HONEST_CLIENTS, perSecond: HONEST_PER_SECOND },
        ...{ durationMs: ROUND_MS, usefulMs: USEFUL_MS },
        clients: {
          addresses: Array.from({ length: HONEST_CLIENTS }, (_, index) => `127.0.1.${index + 1}`),
          halfReconnect: true,
        },
      }
      const attacks: Readonly<Record<string, LoadRequest[]>> = {
        none: [],
        'GET /health': [{ method: 'GET', path: '/health' }],
        'POST /relay, no token': [{ method: 'POST', path: '/relay', body: '{}' }],
        'GET /wallet, over the rate': requests.filter(({ path }) => path.startsWith('/wallet/')),
        'POST /orders, junk': junkOrders(),
      }
      const measured: Record<string, Level>[] = []
      let clients = 0
      for (let round = 0; round <= rounds; round++) {
        const levels: Record<string, Level> = {}
        for (const [name, flood] of Object.entries(attacks)) {
          // A client of its own each time, which has its whole rate left.
          const localAddress = `127.0.${2 + Math.floor(clients / 250)}.${1 + (clients++ % 250)}`
          const plan = { url, localAddress, connections: CONNECTIONS, depth: DEPTH, durationMs: ROUND_MS }
          const [hostile, honest] = await Promise.all([
            flood.length === 0 ? null : generators.hostile.flood({ ...plan, requests: flood }),
            generators.honest.load(honestPlan),
          ])
          levels[name] = { honest, hostile, load: currentLoad() }
        }
        print(`  round ${round} of ${rounds}`)
        // The first round warms up.
        if (round > 0) measured.push(levels)
      }
      const names = Object.keys(attacks)
      return {
        rows: names.map((name) => levelRow(measured, name)),
        bars: names.slice(1).map((name) => shareBar(measured, name)),
        notes: [
          `${HONEST_CLIENTS} honest clients ask ${HONEST_PER_SECOND} times a second in all, half of them on a new connection each time`,
          `an answer counts within ${USEFUL_MS} ms of when its request was due; ${ROUND_MS / 1_000} s of each flood`,
          `one hostile client: ${CONNECTIONS} connections, ${DEPTH} requests pipelined on each, opened anew 100 ms after they are closed`,
          "answered/s, refused/s (429 and 503) and opened/s are the hostile client's; the load is the machine's",
        ],
        rounds: measured,
      }
    } finally {
      await Promise.all([generators.honest.stop(), generators.hostile.stop()])
      await platform.stop()
    }
  },
}

/** The honest requests that were answered in time, by all that fell due. */
function shareBar(measured: readonly Record<string, Level>[], name: string): Bar {
  const shares = levelsOf(measured, name).map(({ honest }) => honest.good / honest.due)
  return { what: `honest share, ${name}`, value: spreadOf(shares), atLeast: BAR }
}

function levelRow(measured: readonly Record<string, Level>[], name: string): Row {
  const levels = levelsOf(measured, name)
  const spread = (of: (level: Level) => number) => spreadOf(levels.map(of))
  const each = (of: (hostile: FloodResult) => number) =>
    spread(({ hostile }) => (hostile === null ? Number.NaN : (of(hostile) * 1_000) / ROUND_MS))
  const cells = {
    'honest share': spread(({ honest }) => honest.good / honest.due),
    'p50 ms': spread(({ honest }) => honest.p50Ms),
    'p99 ms': spread(({ honest }) => honest.p99Ms),
    'answered/s': each((hostile) => countOf(hostile, false)),
    'refused/s': each((hostile) => countOf(hostile, true)),
    'opened/s': each(({ opened }) => opened),
    load: spread(({ load }) => load),
  }
  return { what: name, cells }
}

function levelsOf(measured: readonly Record<string, Level>[], name: string): Level[] {
  return measured.flatMap((levels) => levels[name] ?? [])
}

function countOf({ answers }: FloodResult, isRefused: boolean): number {
  return Object.entries(answers)
    .filter(([status]) => REFUSED.has(status) === isRefused)
    .reduce((sum, [, count]) => sum + count, 0)
}

/** Orders that are well formed, under escrows that there are not: only the chain can tell. */
function junkOrders(): LoadRequest[] {
  const hex = (length: number) => bytesToHex(randomBytes(length))
  const epk = publicKeyOf(randomBytes(32))
  return Array.from({ length: JUNK }, () => {
    const body = JSON.stringify({ orderId: hex(32), epk, iv: hex(12), ct: hex(64), tag: hex(16) })
    return { method: 'POST', path: '/orders', body }
  })
}
