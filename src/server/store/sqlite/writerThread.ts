// The thread of `startSqlite`: commits one group of writes after the other. The first one opens the database.
import { parentPort, workerData } from 'node:worker_threads'
import * as z from 'zod'
import type { WriteResult } from '../engine.js'
import { failureCode, openDatabase } from './database.js'
import { createWriter, type Write } from './writer.js'

/** The results of one group, or why none of it was written. */
export type GroupAnswer = { readonly results: readonly WriteResult[] } | { readonly failure: string }

const { directory } = z.object({ directory: z.string() }).parse(workerData)
const port = parentPort
let writer: ReturnType<typeof createWriter> | undefined

function commit(group: readonly Write[]): GroupAnswer {
  try {
    writer ??= createWriter(openDatabase(directory))
    return { results: writer.commit(group) }
  } catch (error) {
    return { failure: failureCode(error) }
  }
}

port?.on('message', (group: readonly Write[] | null) => {
  if (group !== null) return port.postMessage(commit(group))
  writer?.close()
  port.close()
})
