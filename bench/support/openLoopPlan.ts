import { z } from 'zod'
import { loadRequestSchema } from './load.js'

// What the open-loop generator is told, and what it answers: both cross a process boundary.

export const openLoopPlanSchema = z.strictObject({
  url: z.url(),
  /** Clients, each with a connection that is kept alive. */
  connections: z.int().positive(),
  /** Loopback addresses, in turn one for each client; left out, the system chooses one for all. */
  addresses: z.array(z.ipv4()).min(1).optional(),
  /** Every second client opens a connection for each request. */
  halfReconnect: z.boolean().optional(),
  /** Sent in turn, again and again. */
  requests: z.array(loadRequestSchema).min(1),
  /** Requests that fall due in a second, of all clients together; left out, each client asks again as soon as it is answered. */
  perSecond: z.number().positive().optional(),
  durationMs: z.number().positive(),
  /** After which an answer counts no longer. */
  usefulMs: z.number().positive(),
})
export type OpenLoopPlan = z.output<typeof openLoopPlanSchema>

export const openLoopResultSchema = z.strictObject({
  /** Requests that fell due. */
  due: z.int(),
  /** Of those, sent, as their client did not wait for another. */
  asked: z.int(),
  /** Answered with 2xx within `usefulMs` of when they were due. */
  good: z.int(),
  /** Answered with 503. */
  refused: z.int(),
  goodPerSecond: z.number(),
  /** Of the good ones, from when they were due. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** Of the refused; null when there is none. */
  refusedP99Ms: z.number().nullable(),
})
export type OpenLoopResult = z.output<typeof openLoopResultSchema>
