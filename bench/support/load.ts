import { z } from 'zod'
import { type Helper, startHelper } from './processes.js'

// The generator's tasks and its answers, which cross a process boundary.

export const loadRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  /** JSON text. */
  body: z.string().optional(),
})
export type LoadRequest = z.output<typeof loadRequestSchema>

const target = {
  url: z.url(),
  /** Sent in turn. */
  requests: z.array(loadRequestSchema).min(1),
  /** Kept alive; each has one request under way. */
  connections: z.int().positive(),
}

export const loadPlanSchema = z.strictObject({
  ...target,
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

/** One client that pipelines requests on many connections, and opens those anew that the server closes. */
export const floodPlanSchema = z.strictObject({
  ...target,
  localAddress: z.ipv4(),
  /** Requests under way on each connection. */
  depth: z.int().positive(),
  durationMs: z.number().positive(),
})
export type FloodPlan = z.output<typeof floodPlanSchema>

export const loadResultSchema = z.strictObject({
  /** Requests that fell due. */
  due: z.int(),
  /** The due requests that were sent. */
  sent: z.int(),
  /** Answers with the expected status, in time. */
  good: z.int(),
  /** Other answers, and a connection that the server ended. */
  failed: z.int(),
  /** Answers with 503. */
  refused: z.int(),
  /** Good answers. */
  perSecond: z.number(),
  /** Latency of the good answers, a wait for a free connection included; 0 when there is none. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** The same of those with 503; null when there is none. */
  refusedP99Ms: z.number().nullable(),
})
export type LoadResult = z.output<typeof loadResultSchema>

export const floodResultSchema = z.strictObject({
  /** Answers by status. */
  answers: z.record(z.string(), z.int()),
  /** Connections that the client opened, those included that the server closed. */
  opened: z.int(),
})
export type FloodResult = z.output<typeof floodResultSchema>

/** The load generator, a process of its own. */
export interface Generator {
  load(plan: LoadPlan): Promise<LoadResult>
  /** @throws FailedRequestsError unless every answer is good */
  loadAll(plan: LoadPlan): Promise<LoadResult>
  flood(plan: FloodPlan): Promise<FloodResult>
  stop: Helper['stop']
}

/** A server gave an answer that was not expected, so that its speed has no meaning. */
export class FailedRequestsError extends Error {
  override readonly name = 'FailedRequestsError'
}

export function startGenerator(): Generator {
  const helper = startHelper('./generator.ts')
  const load = (plan: LoadPlan) => helper.ask(plan, loadResultSchema)
  return {
    load,
    async loadAll(plan) {
      const result = await load(plan)
      const { failed, good } = result
      if (failed > 0 || good === 0)
        throw new FailedRequestsError(`${plan.url}: ${failed} failed, ${good} good`)
      return result
    },
    flood: (plan) => helper.ask(plan, floodResultSchema),
    stop: helper.stop,
  }
}
