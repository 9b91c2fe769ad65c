import { type Helper, startHelper } from './support/childProcess.js'
import { untilQuiet } from './support/cpuTime.js'
import type { Figure } from './support/figure.js'
import type { LoadRequest } from './support/load.js'
import { type OpenLoopPlan, type OpenLoopResult, openLoopResultSchema } from './support/openLoopPlan.js'
import { openOrders } from './support/openOrders.js'
import type { OverloadLevel, OverloadRound } from './support/overloadResult.js'
import { type Platform, startPlatform } from './support/platform.js'

const ORDERS = 6
/** In times of what the server can carry. */
const LOADS = [1, 2, 5]
/** After which an answer is of no use. */
const USEFUL_MS = 1_000
/** Far more than the server takes on at once. */
const CLIENTS = 2_000
/** So that capacity is not waited for: each of these asks again at once. */
const CLIENTS_WHO_WAIT = 64
/** More than twice as long as a client is left unread. */
const ROUND_MS = 12_000

export const overload: Figure = {
  name: 'overload',
  title: 'Overload',
  async measure({ nodeOptions, rounds: { rounds }, print }) {
    const platform = await startPlatform({ nodeOptions, print })
    const generator = startHelper('./openLoopGenerator.ts')
    try {
      const requests = await requestsTo(platform)
      const send = (plan: Pick<OpenLoopPlan, 'connections' | 'perSecond'>) =>
        ask(generator, {
          url: platform.server.url,
          requests,
          durationMs: ROUND_MS,
          usefulMs: USEFUL_MS,
          ...plan,
        })
      // The warm-up: the first one compiles.
      await measureRound(send)
      const measured: OverloadRound[] = []
      for (let round = 1; round <= rounds; round++) {
        measured.push(await measureRound(send))
        print(`  round ${round} of ${rounds}`)
      }
      const notes = [
        `${CLIENTS} clients, none of which heeds Retry-After; an answer counts within ${USEFUL_MS} ms of when its request was due`,
        `a client that waits asks nothing: what falls due for it is due, and not asked; ${ROUND_MS / 1_000} s of each load`,
        'in equal parts: an order posted again, its status, a wallet',
      ]
      return { kind: 'overload', rounds: measured, notes }
    } finally {
      await generator.stop()
      await platform.stop()
    }
  },
}

/** What a frontend's pages send, each of it costing the server something. */
export async function requestsTo({ sandbox, server }: Platform): Promise<LoadRequest[]> {
  const opened = await openOrders(sandbox, ORDERS)
  for (const { body } of opened) {
    const headers = { 'content-type': 'application/json' }
    await fetch(`${server.url}/orders`, { method: 'POST', headers, body })
  }
  await untilQuiet(server.pid)
  const [employee] = sandbox.accounts.employees
  if (employee === undefined) throw new Error('the sandbox has no employee')
  return opened.flatMap(({ orderId, body }): LoadRequest[] => [
    { method: 'POST', path: '/orders', body },
    { method: 'GET', path: `/orders/${orderId}` },
    { method: 'GET', path: `/wallet/${employee.address}` },
  ])
}

type Send = (plan: Pick<OpenLoopPlan, 'connections' | 'perSecond'>) => Promise<OpenLoopResult>

async function measureRound(send: Send): Promise<OverloadRound> {
  const { goodPerSecond: capacity } = await send({ connections: CLIENTS_WHO_WAIT })
  if (capacity === 0) throw new Error('the server answered nothing')
  const levels: OverloadLevel[] = []
  for (const times of LOADS) {
    levels.push({ times, ...(await send({ connections: CLIENTS, perSecond: capacity * times })) })
  }
  return { capacity, levels }
}

async function ask(generator: Helper, plan: OpenLoopPlan): Promise<OpenLoopResult> {
  return await generator.ask(plan, openLoopResultSchema)
}
