// The load generator as figures use it. Plans and results cross a process boundary.
import * as z from 'zod'
import { cpuMs } from './platformProcesses.js'
import { startHelper, stolenMs, type Target } from './processes.js'

const loadRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  /** JSON text. */
  body: z.string().optional(),
})
export type LoadRequest = z.output<typeof loadRequestSchema>

export const loadPlanSchema = z.strictObject({
  /** Share the connections evenly. */
  urls: z.array(z.url()).min(1),
  /** Sent in turn. */
  requests: z.array(loadRequestSchema).min(1),
  /** Kept alive; each has one request under way. */
  connections: z.int().positive(),
  /** Headers of every request. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The only status that counts as good. Default: any 2xx. */
  expectedStatus: z.int().optional(),
  /** Open loop: requests fall due evenly spaced. By default the loop is closed: a free connection sends the next request. */
  perSecond: z.number().positive().optional(),
  /** How long to repeat the requests; null sends each of them once. */
  durationMs: z.number().positive().nullable(),
  /** Later answers are not good. */
  usefulMs: z.number().positive().optional(),
  /**
   * Each request falls due for one client in turn, and is not sent while that client waits for an answer, as in a page.
   * By default a request takes any connection, and waits for one when none is free.
   */
  clients: z
    .strictObject({
      /** Loopback addresses, one for each client in turn. By default each connection has a new one. */
      addresses: z.array(z.ipv4()).min(1).optional(),
      /** Every second client opens a connection for each request. */
      halfReconnect: z.boolean().optional(),
    })
    .optional(),
})
export type LoadPlan = z.output<typeof loadPlanSchema>

const loadResultSchema = z.strictObject({
  /** Requests that fell due. */
  due: z.int(),
  /** The due requests that were sent. */
  sent: z.int(),
  /** Answers with the expected status, in time. */
  good: z.int(),
  /** Other or late answers, and requests whose connection was lost. */
  failed: z.int(),
  /** The statuses of failed answers, each once. A request without an answer has none. */
  failedWith: z.array(z.int()),
  /** Answers with 503. */
  refused: z.int(),
  /** Good answers. */
  perSecond: z.number(),
  /** Latency of the good answers, including a wait for a free connection; 0 without any. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** The same of the answers with 503. */
  refusedP99Ms: z.number(),
})
export type LoadResult = z.output<typeof loadResultSchema>

/** The value below which that share of the values lies, by the nearest rank; 0 without any. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0
}

export type Generator = ReturnType<typeof startGenerator>

export function startGenerator(cleanUp: AsyncDisposableStack) {
  const { ask } = startHelper(cleanUp, './generator.ts')
  const load = (plan: LoadPlan) => ask(plan, loadResultSchema)
  return {
    load,
    /** @throws when an answer is not good: the speed of the others has no meaning then */
    async loadAll(plan: LoadPlan) {
      const result = await load(plan)
      const { failed, failedWith, good } = result
      if (failed === 0 && good > 0) return result
      throw new Error(
        `${plan.urls.join(', ')}: ${failed} requests failed (${failedWith.join(', ')}), ${good} did not`,
      )
    },
  }
}

/** Sends one round's load to one server, and measures it. */
export async function takeTurn(load: Generator['load'], { url, pid }: Target, plan: Omit<LoadPlan, 'urls'>) {
  const [before, stolenBefore] = [await cpuMs(pid), await stolenMs()]
  const { good, failed, perSecond, p50Ms, p99Ms } = await load({ urls: [url], ...plan })
  return {
    'requests/s': perSecond,
    'p50 ms': p50Ms,
    'p99 ms': p99Ms,
    'least CPU µs': (((await cpuMs(pid)) - before) * 1_000) / good,
    'stolen ms': (await stolenMs()) - stolenBefore,
    'most failed': failed,
  }
}
