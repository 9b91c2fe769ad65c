import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import type { Table } from '../engine.js'
import { UnknownSchemaError } from '../storageError.js'

/**
 * The index of the open rows holds them in the order in which they came, so that rows of one group go into one page of it.
 * By id, each would write a page of its own to the log, and again to the database: half of what a write costs.
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

const FIRST_TABLES = ['orders', 'relays', 'runs', 'state'] as const

/** Each takes the schema from its index to the next number. They are never edited once released. */
const MIGRATIONS: readonly string[] = [
  `${FIRST_TABLES.map(createTable).join('')}
  CREATE TABLE leases (
    name TEXT PRIMARY KEY NOT NULL,
    term TEXT NOT NULL,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;`,
  createTable('cancels'),
]

const versionSchema = z.object({ user_version: z.int() })

/** Brings the database to the newest schema, or leaves it as it was. @throws UnknownSchemaError */
export function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const { user_version: found } = versionSchema.parse(database.prepare('PRAGMA user_version').get())
    if (found > MIGRATIONS.length) throw new UnknownSchemaError(found, MIGRATIONS.length)
    for (const migration of MIGRATIONS.slice(found)) database.exec(migration)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
