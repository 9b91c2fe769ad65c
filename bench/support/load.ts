import { z } from 'zod'

// What the load generator is told, and what it answers: both cross a process boundary.

export const loadRequestSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  path: z.string(),
  /** JSON text. */
  body: z.string().optional(),
})
export type LoadRequest = z.output<typeof loadRequestSchema>

export const loadPlanSchema = z.strictObject({
  url: z.url(),
  /** Kept alive; each has one request under way. */
  connections: z.int().positive(),
  requests: z.array(loadRequestSchema).min(1),
  /** Of every request. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The one status that counts as answered; any 2xx when left out. */
  expectedStatus: z.int().optional(),
  /** Requests per second, evenly spaced whether or not earlier ones are answered; left out, each waits for the one before. */
  perSecond: z.int().positive().optional(),
  /** How long to repeat the requests; null sends each of them exactly once. */
  durationMs: z.number().positive().nullable(),
})
export type LoadPlan = z.output<typeof loadPlanSchema>

export const loadResultSchema = z.strictObject({
  /** Requests that were answered as expected, in time. */
  answered: z.int(),
  /** Others. */
  failed: z.int(),
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
})
export type LoadResult = z.output<typeof loadResultSchema>
