import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { bytesToHex } from '../src/protocol/hex.js'
import { publicKeyOf } from '../src/protocol/publicKey.js'
import { requestsTo } from './overload.js'
import { type Helper, startHelper } from './support/childProcess.js'
import type { Figure } from './support/figure.js'
import { type FloodPlan, floodResultSchema } from './support/floodPlan.js'
import type { FloodLevel } from './support/floodsResult.js'
import type { LoadRequest } from './support/load.js'
import { type OpenLoopPlan, openLoopResultSchema } from './support/openLoopPlan.js'
import { startPlatform } from './support/platform.js'

const ROUND_MS = 12_000
/** After which an answer is of no use. */
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

export const floods: Figure = {
  name: 'floods',
  title: 'Floods',
  async measure({ nodeOptions, rounds: { rounds }, print }) {
    const platform = await startPlatform({ nodeOptions, print, settings: LIMITED })
    const honest = startHelper('./openLoopGenerator.ts')
    const hostile = startHelper('./floodGenerator.ts')
    try {
      const { url } = platform.server
      const requests = await requestsTo(platform)
      const honestPlan: OpenLoopPlan = {
        url,
        requests,
        connections: HONEST_CLIENTS,
        addresses: Array.from({ length: HONEST_CLIENTS }, (_, index) => `127.0.1.${index + 1}`),
        halfReconnect: true,
        perSecond: HONEST_PER_SECOND,
        durationMs: ROUND_MS,
        usefulMs: USEFUL_MS,
      }
      const view = requests.find(({ path }) => path.startsWith('/wallet/'))
      if (view === undefined) throw new Error('the honest clients ask for no wallet')
      const attacks: [name: string, requests: LoadRequest[]][] = [
        ['GET /health', [{ method: 'GET', path: '/health' }]],
        ['POST /relay, no token', [{ method: 'POST', path: '/relay', body: '{}' }]],
        ['GET /wallet, over the rate', [view]],
        ['POST /orders, junk', junkOrders()],
      ]
      const measured: FloodLevel[][] = []
      let clients = 0
      // The first round is the warm-up: it compiles.
      for (let round = 0; round <= rounds; round++) {
        const levels = [await level('none', honest, honestPlan)]
        for (const [name, flood] of attacks) {
          // A client of its own each time: none has used its rate up.
          const localAddress = `127.0.${2 + Math.floor(clients / 250)}.${1 + (clients++ % 250)}`
          const plan = { url, localAddress, connections: CONNECTIONS, depth: DEPTH, requests: flood }
          levels.push(await level(name, honest, honestPlan, { helper: hostile, plan }))
        }
        if (round === 0) continue
        measured.push(levels)
        print(`  round ${round} of ${rounds}`)
      }
      const notes = [
        `${HONEST_CLIENTS} honest clients ask ${HONEST_PER_SECOND} times a second in all, half of them on a new connection each time`,
        `an answer counts within ${USEFUL_MS} ms of when its request was due; ${ROUND_MS / 1_000} s of each flood`,
        `one hostile client: ${CONNECTIONS} connections, ${DEPTH} requests pipelined on each, opened anew 100 ms after they are closed`,
        `of the hostile client: answered/s, refused/s (429 and 503), connections opened/s; load: of the machine`,
      ]
      return { kind: 'floods', rounds: measured, durationMs: ROUND_MS, notes }
    } finally {
      await Promise.all([honest.stop(), hostile.stop()])
      await platform.stop()
    }
  },
}

async function level(
  name: string,
  honest: Helper,
  plan: OpenLoopPlan,
  flood?: { readonly helper: Helper; readonly plan: Omit<FloodPlan, 'durationMs'> },
): Promise<FloodLevel> {
  const [hostile, result] = await Promise.all([
    flood?.helper.ask({ ...flood.plan, durationMs: plan.durationMs }, floodResultSchema) ?? null,
    honest.ask(plan, openLoopResultSchema),
  ])
  return { name, honest: result, hostile, load: loadavg()[0] ?? Number.NaN }
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
