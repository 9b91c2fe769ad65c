import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteDatabase } from './sqliteDatabase.js'

/** Another process uses the directory. */
export class DirectoryLockedError extends Error {
  override readonly name = 'DirectoryLockedError'

  constructor(directory: string, holder: string | undefined) {
    super(
      `${directory} is in use by ${holder === undefined ? 'another process' : `process ${holder}`}. ` +
        'Stop that one first, or choose another directory.',
    )
  }
}

const SQLITE_BUSY = 5
const PRIVATE_DIRECTORY = 0o700
const PRIVATE_FILE = 0o600
/** For a predecessor that is just ending. */
const PATIENCE_MS = 500

/**
 * Locks a directory for this process until `release` or its death, however sudden. The kernel holds the lock, also while the
 * process is stopped, on a file that an SQLite transaction keeps open.
 *
 * @throws DirectoryLockedError when another process has it; SQLite's error, or the system's
 */
export function lockDirectory(directory: string) {
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY })
  const path = join(directory, 'server.lock')
  closeSync(openSync(path, 'a', PRIVATE_FILE))
  const database = openSqliteDatabase(path, { timeout: PATIENCE_MS })
  const holder = join(directory, 'server.pid')
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw isLockedByAnother(error) ? new DirectoryLockedError(directory, readPid(holder)) : error
  }
  notePid(holder)
  // As long as something refers to it, the connection is not collected as garbage, which would close it.
  const close = () => database.close()
  process.once('exit', close)
  return {
    release(): void {
      process.off('exit', close)
      close()
    },
  }
}

export type DirectoryLock = ReturnType<typeof lockDirectory>

/** Whether SQLite failed because another process has locked the file. */
export function isLockedByAnother(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

/** A hint for operators. A full disk has none. */
function notePid(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`, { mode: PRIVATE_FILE })
  } catch {}
}

function readPid(path: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(path, 'utf8'))?.[0]
  } catch {
    return undefined
  }
}
