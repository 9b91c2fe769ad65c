import { z } from 'zod'

/** What the process that reads the events is asked. */
export const narrationTaskSchema = z.strictObject({
  /** The narrator as the server builds it, or a bare loop of `eth_getLogs` over the same ranges. */
  way: z.enum(['ours', 'bare']),
  /** Of a server that would narrate this chain. */
  env: z.record(z.string(), z.string()),
  dataDir: z.string(),
  /** The block that it begins after, and the last one to read. */
  from: z.int(),
  to: z.int(),
  /** Blocks of one range. */
  range: z.int(),
  /** Whether memory is followed, which takes time. */
  isFollowed: z.boolean(),
})
export type NarrationTask = z.output<typeof narrationTaskSchema>

/** What it answers. */
export const narrationAnswerSchema = z.strictObject({
  ms: z.number(),
  events: z.int(),
  ticks: z.int(),
  heapMiB: z.array(z.number()),
})
export type NarrationAnswer = z.output<typeof narrationAnswerSchema>
