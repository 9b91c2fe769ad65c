import { startHelper } from './support/childProcess.js'
import { FailedRequestsError } from './support/compare.js'
import { cpuMs, untilQuiet } from './support/cpuTime.js'
import type { Figure } from './support/figure.js'
import { openOrders } from './support/openOrders.js'
import { type PollPlan, pollResultSchema } from './support/pollPlan.js'

/** Of the pollers, before they are counted: connections are made, and the JIT compiler has seen thousands of requests. */
const WARM_UP_SECONDS = 5
const SECONDS = 30

/** Many clients that poll an order of their own, and the market, every second. */
export const polling: Figure = {
  name: 'polling',
  title: 'Polling GET /orders/:orderId and GET /market every second, with ETag',
  async measure({ clients, platform, print }) {
    const { sandbox, server } = await platform()
    print(`opening ${clients} escrows for polling`)
    const orders = await openOrders(sandbox, clients)
    await untilQuiet(server.pid)
    const pollers = startHelper('./pollers.ts')
    try {
      const plan = {
        url: server.url,
        clients: orders.map(({ orderId }) => [`/orders/${orderId}`, '/market']),
      }
      const ask = (seconds: number) => pollers.ask({ ...plan, seconds } satisfies PollPlan, pollResultSchema)
      await ask(WARM_UP_SECONDS)
      const before = await cpuMs(server.pid)
      const startedAt = performance.now()
      const { routes, failed } = await ask(SECONDS)
      const elapsedMs = performance.now() - startedAt
      const after = await cpuMs(server.pid)
      if (failed > 0) throw new FailedRequestsError(`${server.url}: ${failed} polls failed`)
      return {
        kind: 'latencies',
        rows: routes.map(({ route, answered, unchanged, ...times }) => ({
          what: `${route}: ${answered} polls, ${percent(unchanged / answered)} of them 304`,
          ...times,
        })),
        notes: [
          `${clients} clients, each with one connection and an order of its own, for ${SECONDS} s`,
          before === null || after === null
            ? 'the system does not tell the CPU time of a process'
            : `the server, all threads, used ${percent((after - before) / elapsedMs)} of one core`,
          'the chain makes a block every second, and each order is read once for each block that is polled',
        ],
      }
    } finally {
      await pollers.stop()
    }
  },
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
