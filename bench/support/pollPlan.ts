import { z } from 'zod'

// What the pollers are told, and what they answer: both cross a process boundary.

export const pollPlanSchema = z.strictObject({
  url: z.url(),
  /** Paths that a client asks for, one after the other, every second; one array for each client. */
  clients: z.array(z.array(z.string()).min(1)).min(1),
  seconds: z.int().positive(),
})
export type PollPlan = z.output<typeof pollPlanSchema>

const polledSchema = z.strictObject({
  /** The first part of the path. */
  route: z.string(),
  answered: z.int(),
  /** Of those, the ones that were 304. */
  unchanged: z.int(),
  p50Ms: z.number(),
  p99Ms: z.number(),
})

export const pollResultSchema = z.strictObject({
  routes: z.array(polledSchema),
  /** Answers other than 200 and 304, and requests without any. */
  failed: z.int(),
})
export type PollResult = z.output<typeof pollResultSchema>
