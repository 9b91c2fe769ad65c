import { createMetrics } from '../src/server/metrics/metrics.js'
import { startBareServer } from './support/bareRoute.js'
import { startHelper } from './support/childProcess.js'
import { cpuMs } from './support/cpuTime.js'
import type { Figure } from './support/figure.js'
import { loadResultSchema } from './support/load.js'

const CALLS = 200_000
const ROUTES = ['/orders', '/orders/:orderId', '/wallet/:address', '/market', '/health']

/** What counting a request for `/metrics` takes, beside what the least request takes. */
export const metrics: Figure = {
  name: 'metrics',
  title: 'Metrics of a request',
  async measure({ rounds }) {
    const bare = await startBareServer({ method: 'GET', path: '/', status: 200, body: { status: 'ok' } })
    const generator = startHelper('./loadGenerator.ts')
    const { connections, roundMs: durationMs } = rounds
    const plan = { url: bare.url, connections, durationMs, requests: [{ method: 'GET', path: '/' }] }
    const parts: number[] = []
    const requests: number[] = []
    try {
      for (let round = 0; round <= rounds.rounds; round++) {
        const before = await cpuMs(bare.pid)
        const { answered } = await generator.ask(plan, loadResultSchema)
        const after = await cpuMs(bare.pid)
        if (before !== null && after !== null) requests.push(((after - before) * 1_000) / answered)
        parts.push(observeUs())
      }
    } finally {
      await Promise.all([bare.stop(), generator.stop()])
    }
    return {
      kind: 'cost',
      partUs: Math.min(...parts),
      requestUs: requests.length === 0 ? null : Math.min(...requests),
    }
  },
}

/** One call of many, with the labels that requests have. */
function observeUs(): number {
  const { http } = createMetrics('bench')
  const startedAt = performance.now()
  for (let call = 0; call < CALLS; call++) {
    const route = ROUTES[call % ROUTES.length] ?? ''
    http({ method: 'GET', route, status: 200, code: undefined, durationMs: call % 100, isAborted: false })
  }
  return ((performance.now() - startedAt) * 1_000) / CALLS
}
