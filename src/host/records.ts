import { z } from 'zod'
import { bytes32Schema } from '../protocol/hex.js'
import { timestampSchema } from '../protocol/intent.js'
import { runIdSchema, runResultSchema } from '../protocol/job.js'
import type { AtomicFiles } from '../server/store/atomicFiles.js'
import { processSchema } from '../server/store/runFiles.js'
import { createRunRecords, type RunRecords } from '../server/store/runRecords.js'
import type { Logger } from '../service/logger.js'

const recordSchema = z.strictObject({
  runId: runIdSchema,
  /** Null for a job that is about no order. */
  orderId: bytes32Schema.nullable(),
  /** Unix seconds. */
  stopAt: timestampSchema,
  /** Null where it was never started. */
  process: processSchema.nullable(),
  /** What is posted to the server; null while the run is under way. */
  result: runResultSchema.nullable(),
})
/** What the host knows of a run; nothing of what is sealed. */
export type HostedRun = z.output<typeof recordSchema>

/** The runs that the host has accepted. */
export type HostedRunRecords = RunRecords<HostedRun>

/** `root` is the data directory, absolute. */
export function createHostedRunRecords(options: {
  readonly files: AtomicFiles
  readonly root: string
  readonly logger: Logger
}): HostedRunRecords {
  return createRunRecords({ ...options, schema: recordSchema })
}
