import { z } from 'zod'
import { loadRequestSchema } from './load.js'

// The message that starts the flood's process, and its answer: both cross a process boundary.

export const floodPlanSchema = z.strictObject({
  url: z.url(),
  /** The one client's. */
  localAddress: z.ipv4(),
  connections: z.int().positive(),
  /** Requests under way on each. */
  depth: z.int().positive(),
  /** Sent in turn. */
  requests: z.array(loadRequestSchema).min(1),
  durationMs: z.number().positive(),
})
export type FloodPlan = z.output<typeof floodPlanSchema>

export const floodResultSchema = z.strictObject({
  /** Answers by status. */
  answers: z.record(z.string(), z.int()),
  /** Connections that it opened, those included that the server closed. */
  opened: z.int(),
})
export type FloodResult = z.output<typeof floodResultSchema>
