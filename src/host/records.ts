import { join } from 'node:path'
import { z } from 'zod'
import { bytes32Schema } from '../protocol/hex.js'
import { timestampSchema } from '../protocol/intent.js'
import { runIdSchema, runResultSchema } from '../protocol/job.js'
import type { Logger } from '../server/logger.js'
import type { AtomicFiles } from '../server/store/atomicFiles.js'
import { createFileRecordStore } from '../server/store/recordStore.js'
import { processSchema } from '../server/store/runFiles.js'

const recordSchema = z.strictObject({
  runId: runIdSchema,
  /** Null for a job that is about no order. */
  orderId: bytes32Schema.nullable(),
  /** Unix seconds. */
  stopAt: timestampSchema,
  /** Null before the start. */
  process: processSchema.nullable(),
  /** What is posted to the server; null while the run is under way. */
  result: runResultSchema.nullable(),
})
/** What the host knows of a run; nothing of what is sealed. */
export type HostedRun = z.output<typeof recordSchema>

/** The runs that the host has accepted: `runs/<runId as hex>.json`. Every method rejects with StorageError. */
export interface HostedRunRecords {
  /** Where the enclave writes its result; absolute. */
  resultPath(runId: string): string
  get(runId: string): Promise<HostedRun | undefined>
  /** Durable when it resolves. */
  put(run: HostedRun): Promise<void>
  all(): Promise<HostedRun[]>
  remove(runId: string): Promise<void>
}

const DIRECTORY = 'runs'

/** `root` is the data directory, absolute. */
export function createHostedRunRecords(options: {
  readonly files: AtomicFiles
  readonly root: string
  readonly logger: Logger
}): HostedRunRecords {
  const { files, root, logger } = options
  const store = createFileRecordStore({
    files,
    logger,
    directory: DIRECTORY,
    sharded: false,
    schema: recordSchema,
  })
  const resultName = (runId: string) => `${DIRECTORY}/${runId}.result`
  return {
    resultPath: (runId) => join(root, resultName(runId)),
    get: (runId) => store.get(recordId(runId)),
    put: (run) => store.put(recordId(run.runId), run),
    async all() {
      const runs = await Promise.all((await store.ids()).map((id) => store.get(id)))
      return runs.filter((run) => run !== undefined)
    },
    async remove(runId) {
      await files.remove(resultName(runId))
      await files.remove(`${resultName(runId)}.tmp`)
      await store.delete(recordId(runId))
    },
  }
}

function recordId(runId: string): string {
  return `0x${runId.replaceAll('-', '')}`
}
