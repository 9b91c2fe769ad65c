import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import * as z from 'zod'
import { openSqliteDatabase } from '../../../service/sqliteDatabase.js'
import { FIRST_TABLES, refuseSchema, type StorageError, storageError, type Table } from '../engine.js'

const PRIVATE_DIRECTORY = 0o700
const PRIVATE_FILE = 0o600
/** Bytes of a page in a new database. It holds a dozen rows, so a group of writes needs fewer than of 4,096. */
const PAGE_SIZE = 16_384
/** How long a commit waits for another program that writes to the database, such as an operator's shell. */
const BUSY_TIMEOUT_MS = 1_000
/** Bytes of pages that a connection keeps in memory, in SQLite's form: negative, in KiB. */
const CACHE = -16_384

/**
 * Creates the database where there is none, brings it to the newest schema, and ends the terms of earlier processes.
 * @throws as `openDatabase`; UnusableDatabaseError
 */
export function prepareDatabase(directory: string): void {
  const made = mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY })
  // SQLite makes its files in the directory durable, and not the directory.
  for (const path of made === undefined ? [] : [directory, made]) syncDirectory(dirname(resolve(path)))
  // SQLite gives its log and its index the rights of the database.
  closeSync(openSync(pathIn(directory), 'a', PRIVATE_FILE))
  const database = openDatabase(directory)
  try {
    migrate(database)
    // The directory is this process's alone, so every term in it belongs to a process that has ended.
    database.exec('DELETE FROM leases')
  } finally {
    database.close()
  }
}

/** A connection that reads and writes. COMMIT returns once the write-ahead log has been synced. @throws SQLite's error, or the system's */
export function openDatabase(directory: string): DatabaseSync {
  const database = openSqliteDatabase(pathIn(directory), { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec(`PRAGMA page_size = ${PAGE_SIZE}`)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    database.exec(`PRAGMA cache_size = ${CACHE}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** A connection that reads what has been committed, while another connection writes. @throws SQLite's error */
export function openReadOnly(directory: string): DatabaseSync {
  return openSqliteDatabase(pathIn(directory), { readOnly: true, timeout: BUSY_TIMEOUT_MS })
}

export function createStatements(database: DatabaseSync): (text: string) => StatementSync {
  const known = new Map<string, StatementSync>()
  return (text) => {
    const statement = known.get(text) ?? database.prepare(text)
    known.set(text, statement)
    return statement
  }
}

function pathIn(directory: string): string {
  return join(directory, 'server.db')
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The result codes that an operator can do something about, by their primary number (https://sqlite.org/rescode.html). */
const RESULT_CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
}
const PRIMARY = 0xff

/** SQLite's code, such as `SQLITE_FULL`; the system's code of another error. */
export function failureCode(error: unknown): string {
  if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') {
    return RESULT_CODES[error.errcode & PRIMARY] ?? `SQLITE_${error.errcode}`
  }
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN'
}

export function sqliteFailure(error: unknown): StorageError {
  return storageError(failureCode(error), error)
}

/**
 * The index of the open rows has them in the order of their arrival, so rows of one group go into one page of it. By id, each would
 * write a page of its own to the log, and again to the database: half of what a write costs.
 */
const createTable = (table: Table) => `
  CREATE TABLE ${table} (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    unique_key TEXT,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ${table}_open ON ${table} (is_open) WHERE is_open = 1;
  CREATE UNIQUE INDEX ${table}_unique ON ${table} (unique_key) WHERE is_open = 1 AND unique_key IS NOT NULL;`

/** Each migrates the schema from its index to the next number. They are never edited once released. */
const MIGRATIONS: readonly string[] = [
  `${FIRST_TABLES.map(createTable).join('')}
  CREATE TABLE leases (
    name TEXT PRIMARY KEY NOT NULL,
    term TEXT NOT NULL,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE sums (
    id TEXT PRIMARY KEY NOT NULL,
    day INTEGER NOT NULL,
    used INTEGER NOT NULL,
    kept INTEGER NOT NULL
  ) STRICT;`,
]

const versionSchema = z.object({ user_version: z.int() })

/** Brings the database to the newest schema, or keeps it as it was. @throws UnusableDatabaseError */
export function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const { user_version: found } = versionSchema.parse(database.prepare('PRAGMA user_version').get())
    if (found > MIGRATIONS.length) refuseSchema(found, MIGRATIONS.length)
    for (const migration of MIGRATIONS.slice(found)) database.exec(migration)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
