import { z } from 'zod'
import type { Fence, Row, Table, WriteResult } from '../engine.js'
import { StorageError } from '../storageError.js'
import { type Database, StatementError } from './database.js'
import { insertStatement, SEPARATOR, writeStatement } from './statements.js'

/** A put has a row with a document, and a delete has none. */
interface Write extends Omit<Row, 'doc'> {
  readonly doc: string | null
  readonly fence: Fence | undefined
}

/** The writes of one table, in batches of one statement each. */
interface Batches {
  write(write: Write): Promise<WriteResult>
  /** Resolves when every write has been answered. */
  idle(): Promise<void>
}

/** A batch of 1.1 kB records is half a megabyte. */
const MAX_ROWS = 500

interface Waiting {
  readonly write: Write
  readonly resolve: (result: WriteResult) => void
  readonly reject: (error: unknown) => void
}

const resultsSchema = z.array(z.object({ id: z.string(), result: z.enum(['written', 'lost-term']) }))

function isInsert({ version, doc, fence }: Write): boolean {
  return version === 1 && doc !== null && fence === undefined
}

export function createBatches(database: Database, table: Table): Batches {
  const insert = insertStatement(table)
  const writeAny = writeStatement(table)
  const uniqueIndex = `${table}_unique`
  let waiting: Waiting[] = []
  let sending: Promise<void> | undefined

  /** Each batch holds the writes of one turn of the event loop, or of the time in which the batch before was sent. */
  async function sendAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) await send(nextBatch())
    sending = undefined
  }

  /** One statement changes a row once: a second write of an id waits for the next batch. */
  function nextBatch(): Waiting[] {
    const batch = new Map<string, Waiting>()
    const later: Waiting[] = []
    for (const entry of waiting) {
      const { id } = entry.write
      if (batch.has(id) || batch.size === MAX_ROWS) later.push(entry)
      else batch.set(id, entry)
    }
    waiting = later
    return [...batch.values()]
  }

  /** Resolves with the failure of the database, if it was one. */
  async function send(batch: readonly Waiting[]): Promise<StorageError | undefined> {
    try {
      const results = await run(batch.map(({ write }) => write))
      for (const { write, resolve } of batch) resolve(results.get(write.id) ?? 'conflict')
    } catch (error) {
      if (error instanceof StatementError) return sendEach(batch, error)
      const failure = error instanceof StorageError ? error : new StorageError(error)
      // Writes that came during this batch fail with it: each further batch would wait as long before it failed.
      const refused = [...batch, ...waiting]
      waiting = []
      for (const { reject } of refused) reject(failure)
      return failure
    }
  }

  /** One refused row makes the database roll back its batch, so each row is sent alone: then only that one fails. */
  async function sendEach(
    batch: readonly Waiting[],
    error: StatementError,
  ): Promise<StorageError | undefined> {
    if (batch.length > 1) {
      let failure: StorageError | undefined
      for (const entry of batch) {
        if (failure === undefined) failure = await send([entry])
        else entry.reject(failure)
      }
      return failure
    }
    for (const { resolve, reject } of batch) {
      if (error.violated === uniqueIndex) resolve('taken')
      else reject(new StorageError(error.cause))
    }
  }

  async function run(writes: readonly Write[]): Promise<Map<string, WriteResult>> {
    const column = <T>(pick: (write: Write) => T) => writes.map(pick)
    const values = [
      column(({ id }) => id),
      column(({ version }) => version),
      column(({ isOpen }) => isOpen),
      column(({ uniqueKey }) => uniqueKey),
      // An empty text stands for none: no document is empty.
      column(({ doc }) => doc ?? '').join(SEPARATOR),
    ]
    const fences = [column(({ fence }) => fence?.lease ?? null), column(({ fence }) => fence?.term ?? null)]
    const rows = writes.every(isInsert)
      ? await database.query(insert, values)
      : await database.query(writeAny, [...values, ...fences])
    return new Map(resultsSchema.parse(rows).map(({ id, result }) => [id, result]))
  }

  return {
    write: (write) =>
      new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject })
        sending ??= sendAll()
      }),
    idle: async () => sending,
  }
}
