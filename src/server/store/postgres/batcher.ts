import { StorageError } from '../engine.js'
import { StatementError } from './database.js'

/** Writes that travel together: one statement, and so one commit. */
export interface Batcher<W, R> {
  write(write: W): Promise<R>
  /** Resolves when every write has been answered. */
  idle(): Promise<void>
}

interface BatcherOptions<W, R> {
  /** Chooses the next batch: indices into the writes that wait, in the order in which they are sent. */
  readonly split: (waiting: readonly W[]) => readonly number[]
  /** Resolves with a result for each. @throws StorageError */
  readonly run: (batch: readonly W[]) => Promise<readonly R[]>
  /** The result of a write that the database has refused alone; undefined where it is a failure. */
  readonly refusalOf: (error: StatementError) => R | undefined
}

interface Waiting<W, R> {
  readonly write: W
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/** Each batch holds the writes of one turn of the event loop, or of the time in which the batch before was sent. */
export function createBatcher<W, R>({ split, run, refusalOf }: BatcherOptions<W, R>): Batcher<W, R> {
  let waiting: Waiting<W, R>[] = []
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) await send(nextBatch())
    sending = undefined
  }

  function nextBatch(): Waiting<W, R>[] {
    const chosen = split(waiting.map(({ write }) => write))
    const batch = chosen.flatMap((index) => waiting[index] ?? [])
    const sent = new Set(chosen)
    waiting = waiting.filter((_, index) => !sent.has(index))
    return batch
  }

  /** Resolves with the failure of the database, if it was one. */
  async function send(batch: readonly Waiting<W, R>[]): Promise<StorageError | undefined> {
    try {
      const results = await run(batch.map(({ write }) => write))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result === undefined) reject(new StorageError('a write without a result'))
        else resolve(result)
      }
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

  /** One refused write makes the database roll back its batch, so each is sent alone: then only that one fails. */
  async function sendEach(
    batch: readonly Waiting<W, R>[],
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
    const refusal = refusalOf(error)
    for (const { resolve, reject } of batch) {
      if (refusal === undefined) reject(error)
      else resolve(refusal)
    }
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
