// The thread of `startSqlite`: commits one group of writes after the other.
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import type { TransactionResult } from '../engine.js'
import { failureCode } from './database.js'
import { openWriter, type Write } from './writer.js'

/** The results of one group, or why none of it was written. The first answer says that the database is open. */
export type GroupAnswer = { readonly results: readonly TransactionResult[] } | { readonly failure: string }

const { directory } = z.object({ directory: z.string() }).parse(workerData)

function attempt<T>(action: () => T): T | { readonly failure: string } {
  try {
    return action()
  } catch (error) {
    return { failure: failureCode(error) }
  }
}

const port = parentPort
const opened = attempt(() => ({ writer: openWriter(directory) }))
if ('failure' in opened) {
  port?.postMessage(opened)
} else {
  const { writer } = opened
  port?.on('message', (group: readonly Write[] | null) => {
    if (group !== null) return port.postMessage(attempt(() => ({ results: writer.commit(group) })))
    writer.close()
    port.close()
  })
  port?.postMessage({ results: [] })
}
