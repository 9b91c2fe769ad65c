import { z } from 'zod'
import { type Change, type Fence, StorageError, type TransactionResult } from '../engine.js'
import { type Database, StatementError } from './database.js'

/** What one call of {@link Engine.transact} writes. */
interface Write {
  readonly changes: readonly Change[]
  readonly fence: Fence | undefined
}

interface Waiting {
  readonly write: Write
  readonly resolve: (result: TransactionResult) => void
  readonly reject: (error: unknown) => void
}

/** Each is a subtransaction, and PostgreSQL keeps 64 of a transaction in shared memory. */
const MAX_WRITES = 50

const answerSchema = z.tuple([
  z.object({ results: z.array(z.enum(['written', 'conflict', 'taken', 'lost-term', 'beyond'])) }),
])

/**
 * Transactions that travel together: one statement and one commit, within which each is made or rolled back for itself. Each batch
 * holds the writes of one turn of the event loop, or of the time in which the batch before was sent.
 */
export function createBatches(database: Database) {
  let waiting: Waiting[] = []
  /** So many of the next ones are sent alone. */
  let alone = 0
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const batch = waiting.splice(0, alone > 0 ? 1 : MAX_WRITES)
      alone = Math.max(0, alone - 1)
      await send(batch.toSorted(byFirstId))
    }
    sending = undefined
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await database.query('SELECT transact($1::jsonb) AS results', [encode(batch)])
      const [{ results }] = answerSchema.parse(rows)
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result === undefined) reject(new StorageError('a write without a result'))
        else resolve(result)
      }
    } catch (error) {
      if (error instanceof StatementError && batch.length > 1) {
        // One refused write makes the database roll back its batch, so each is sent alone: then only that one fails.
        waiting = [...batch, ...waiting]
        alone += batch.length
        return
      }
      const failure = error instanceof StorageError ? error : new StorageError(error)
      for (const { reject } of batch) reject(failure)
      if (failure instanceof StatementError) return
      // Writes that came during this batch fail with it: each further batch would wait as long before it failed.
      for (const { reject } of waiting.splice(0)) reject(failure)
      alone = 0
    }
  }

  return {
    write: (changes: readonly Change[], fence: Fence | undefined): Promise<TransactionResult> =>
      new Promise((resolve, reject) => {
        waiting.push({ write: { changes, fence }, resolve, reject })
        sending ??= sendAll()
      }),
    /** Resolves when every write has been answered. */
    idle: async () => sending,
  }
}

/** Batches of two servers that write the same rows wait for each other in one direction. */
function byFirstId(one: Waiting, other: Waiting): number {
  const [first, second] = [one, other].map(({ write: { changes } }) => {
    const [change] = changes
    return change?.kind === 'put' ? change.row.id : (change?.id ?? '')
  })
  return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1
}

function encode(batch: readonly Waiting[]): string {
  const writes = batch.map(({ write }) => write)
  return JSON.stringify(writes, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
