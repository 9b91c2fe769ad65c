import { z } from 'zod'
import type { CleanUp } from '../../src/sandbox/cleanUp.js'
import type { Cells } from './figure.js'
import { cpuMs, startHelper, stolenMs, type Target } from './processes.js'

// The generator's tasks and its answers, which cross a process boundary.

const loadRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  /** JSON text. */
  body: z.string().optional(),
})
export type LoadRequest = z.output<typeof loadRequestSchema>

export const loadPlanSchema = z.strictObject({
  /** The connections are shared out evenly among them. */
  urls: z.array(z.url()).min(1),
  /** Sent in turn. */
  requests: z.array(loadRequestSchema).min(1),
  /** Kept alive; each has one request under way. */
  connections: z.int().positive(),
  /** Headers of every request. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The one status that counts as good; any 2xx when left out. */
  expectedStatus: z.int().optional(),
  /** Open loop: requests fall due evenly spaced. Closed loop when left out: a connection that is free sends the next one. */
  perSecond: z.number().positive().optional(),
  /** How long to repeat the requests; null sends each of them exactly once. */
  durationMs: z.number().positive().nullable(),
  /** Later answers are not good. */
  usefulMs: z.number().positive().optional(),
  /**
   * Each request falls due for one client in turn, and goes unsent while that client waits for an answer, as a page does.
   * Left out, a request takes any connection, and waits for one when none is free.
   */
  clients: z
    .strictObject({
      /** Loopback addresses, one for each client in turn; the system chooses one for all when left out. */
      addresses: z.array(z.ipv4()).min(1).optional(),
      /** Every second client opens a connection for each request. */
      halfReconnect: z.boolean().optional(),
    })
    .optional(),
  /**
   * The generator polls for answers in place of sleeping, and takes a whole core. A server that has to wake the generator
   * pays for that with its own time. Only for two cores that have no other work: the server waits for a core otherwise.
   */
  polls: z.boolean().optional(),
})
export type LoadPlan = z.output<typeof loadPlanSchema>

const loadResultSchema = z.strictObject({
  /** Requests that fell due. */
  due: z.int(),
  /** The due requests that were sent. */
  sent: z.int(),
  /** Answers with the expected status, in time. */
  good: z.int(),
  /** Other answers, and requests whose connection or whose turn was lost. */
  failed: z.int(),
  /** Answers with 503. */
  refused: z.int(),
  /** Good answers. */
  perSecond: z.number(),
  /** Latency of the good answers, a wait for a free connection included; 0 when there is none. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** The same of those with 503. */
  refusedP99Ms: z.number(),
})
export type LoadResult = z.output<typeof loadResultSchema>

/** The value below which that share of the sorted values lies, by the nearest rank. */
export function quantile(sorted: readonly number[] | Float64Array, share: number): number {
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN
}

/** The load generator, a process of its own. */
export interface Generator {
  load(plan: LoadPlan): Promise<LoadResult>
  /** @throws when an answer is not good: the speed of the others has no meaning then */
  loadAll(plan: LoadPlan): Promise<LoadResult>
  stop(): Promise<void>
}

export function startGenerator(cleanUp: CleanUp): Generator {
  const { ask, stop } = startHelper('./generator.ts')
  cleanUp.add(stop)
  const load = (plan: LoadPlan) => ask(plan, loadResultSchema)
  return {
    load,
    async loadAll(plan) {
      const result = await load(plan)
      const { failed, good } = result
      if (failed === 0 && good > 0) return result
      throw new Error(`${plan.urls.join(', ')}: ${failed} requests failed, ${good} did not`)
    },
    stop,
  }
}

/** The load of one server in one round. */
export async function takeTurn(
  load: Generator['load'],
  { url, pid }: Target,
  plan: Omit<LoadPlan, 'urls'>,
): Promise<Cells> {
  const [before, stolenBefore] = [await cpuMs(pid), await stolenMs()]
  const { good, failed, perSecond, p50Ms, p99Ms } = await load({ urls: [url], ...plan })
  const cpuUs = (((await cpuMs(pid)) - before) * 1_000) / good
  const stolen = (await stolenMs()) - stolenBefore
  const rates = { 'requests/s': perSecond, 'p50 ms': p50Ms, 'p99 ms': p99Ms }
  return { ...rates, 'CPU µs': cpuUs, 'least CPU µs': cpuUs, 'stolen ms': stolen, 'most failed': failed }
}
