import { randomUUID } from 'node:crypto'
import { closeSync, fdatasync, fdatasyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import * as z from 'zod'
import {
  type EnclaveBoot,
  enclaveBootSchema,
  RESTARTED,
  type RunResult,
  runIdSchema,
  runResultSchema,
} from '../../protocol/job.js'
import { ConfigError } from '../../service/config.js'
import { isLockedByAnother } from '../../service/directoryLock.js'
import { openSqliteDatabase } from '../../service/sqliteDatabase.js'

/** A job that was accepted, as the table keeps it: nothing of what is sealed. */
export interface NotedRun {
  readonly runId: string
  /** Unix seconds. */
  readonly stopAt: number
}

/** A result that the server has not taken yet. */
export interface FinishedRun extends NotedRun {
  readonly result: RunResult
}

/** Another process holds the state directory. */
export class StateLockedError extends ConfigError {
  constructor(directory: string) {
    super([{ name: 'ENCLAVE_STATE_DIR', problem: `${directory} is in use by another process` }])
  }
}

const toDisk = promisify(fdatasync)

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS identity (
    place TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    boot INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS runs (
    runId TEXT PRIMARY KEY,
    stopAt INTEGER NOT NULL,
    result TEXT,
    settled INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`

const rowSchema = z.object({ runId: runIdSchema, stopAt: z.int(), result: z.string().nullable() })
const finishedRowSchema = rowSchema.extend({ result: z.string() })

interface RunTableOptions {
  /** The disk failed to sync a change that is committed: what the disk holds is unknown, and the process has to end. */
  readonly onUnsynced: (error: unknown) => void
  readonly sync?: (fileDescriptor: number) => Promise<void>
}

/**
 * The runs that an enclave took, in one SQLite file, which this process holds locked for its life. The kernel keeps the lock
 * while the process is stopped, and releases it when it dies, however suddenly. So at the start every run of an earlier boot
 * is over. Every change is durable when its promise resolves.
 * @throws StateLockedError, or SQLite's error when the file cannot be used
 */
export function openRunTable(directory: string, options: RunTableOptions) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, 'runs.sqlite')
  const database = openSqliteDatabase(path)
  try {
    lock(database, directory)
    const boot = beginBoot(database, placeOf(path))
    return createTable(database, openSync(`${path}-wal`, 'r'), boot, options)
  } catch (error) {
    database.close()
    throw error
  }
}

/** `EXCLUSIVE` holds the lock of the first transaction until the file is closed, and WAL needs no shared memory then. */
function lock(database: DatabaseSync, directory: string): void {
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    database.exec('BEGIN EXCLUSIVE')
    database.exec(SCHEMA)
    database.exec('COMMIT')
  } catch (error) {
    throw isLockedByAnother(error) ? new StateLockedError(directory) : error
  }
}

/** A copy of the file is another one: two processes could each hold the lock of theirs. */
function placeOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${ino} ${birthtimeNs}`
}

/** Counts one more boot of this file's instance. A copied file proves nothing about runs, so its rows are dropped. */
function beginBoot(database: DatabaseSync, place: string): EnclaveBoot {
  const known = database.prepare('SELECT instance FROM identity WHERE place = ?').get(place)
  if (known === undefined) {
    database.exec('BEGIN; DELETE FROM identity; DELETE FROM runs;')
    database.prepare('INSERT INTO identity VALUES (?, ?, 0)').run(place, randomUUID())
    database.exec('COMMIT')
  }
  const row = database.prepare('UPDATE identity SET boot = boot + 1 RETURNING instance, boot').get()
  return enclaveBootSchema.parse({ ...row })
}

/** @param log file descriptor of the write-ahead log, which holds every change until SQLite moves it to the file */
function createTable(
  database: DatabaseSync,
  log: number,
  boot: EnclaveBoot,
  { sync = toDisk, onUnsynced }: RunTableOptions,
) {
  const write = createWriter(database, async () => {
    try {
      await sync(log)
    } catch (error) {
      onUnsynced(error)
      throw error
    }
  })
  const select = database.prepare('SELECT runId, stopAt, result FROM runs WHERE runId = ?')
  const insert = database.prepare('INSERT INTO runs (runId, stopAt) VALUES (?, ?)')
  const setResult = database.prepare('UPDATE runs SET result = ? WHERE runId = ?')
  const setSettled = database.prepare('UPDATE runs SET settled = 1 WHERE runId = ?')
  const deleteOld = database.prepare('DELETE FROM runs WHERE settled = 1 AND stopAt < ?')
  const left = endedBefore(database)
  fdatasyncSync(log)
  return {
    boot,
    /** Left by earlier boots for the server: results, and the end of the runs that were under way. */
    left,
    /** Undefined for a run that was never noted, or is forgotten. */
    find(runId: string): (NotedRun & Partial<FinishedRun>) | undefined {
      const row = rowSchema.optional().parse(select.get(runId))
      if (row === undefined) return undefined
      const { result, ...noted } = row
      return result === null ? noted : { ...noted, result: decode(result) }
    },
    note: ({ runId, stopAt }: NotedRun) => write(() => insert.run(runId, stopAt)),
    end: (runId: string, result: RunResult) => write(() => setResult.run(encode(result), runId)),
    /** The server has the result, or cannot need it any more. */
    settle: (runId: string) => write(() => setSettled.run(runId)),
    /** Forgets settled runs that stopped before, which the door refuses as too late. @param stoppedBefore Unix seconds */
    forget: (stoppedBefore: number) => write(() => deleteOld.run(stoppedBefore)),
    /** Releases the lock. */
    close(): void {
      closeSync(log)
      database.close()
    },
  }
}

export type RunTable = ReturnType<typeof openRunTable>

/** Every run without a result was under way when the last boot ended. */
function endedBefore(database: DatabaseSync): FinishedRun[] {
  const restarted = encode({ outcome: 'failed', code: RESTARTED })
  database.prepare('UPDATE runs SET result = ? WHERE result IS NULL').run(restarted)
  const rows = database.prepare('SELECT runId, stopAt, result FROM runs WHERE settled = 0').all()
  return z
    .array(finishedRowSchema)
    .parse(rows)
    .map(({ runId, stopAt, result }) => ({ runId, stopAt, result: decode(result) }))
}

function decode(result: string): RunResult {
  return runResultSchema.parse(JSON.parse(result))
}

function encode(result: RunResult): string {
  return JSON.stringify(z.encode(runResultSchema, result))
}

/**
 * One transaction for all that came while the last one was on its way to the disk. SQLite itself would hold up the whole
 * process for that time, so it commits without it (`synchronous = NORMAL`), and `sync` follows in a thread.
 */
function createWriter(database: DatabaseSync, sync: () => Promise<void>) {
  let waiting: (PromiseWithResolvers<void> & { apply: () => unknown })[] = []
  let isWriting = false

  function commit(changes: typeof waiting): void {
    try {
      database.exec('BEGIN')
      for (const { apply } of changes) apply()
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const changes = waiting
      waiting = []
      try {
        commit(changes)
        await sync()
        for (const { resolve } of changes) resolve()
      } catch (error) {
        for (const { reject } of changes) reject(error)
      }
    }
    isWriting = false
  }

  return (apply: () => unknown): Promise<void> => {
    const written = Promise.withResolvers<void>()
    waiting.push({ apply, ...written })
    if (!isWriting) {
      isWriting = true
      setImmediate(() => void writeAll())
    }
    return written.promise
  }
}
