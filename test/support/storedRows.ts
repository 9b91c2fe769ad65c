import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { TABLES, type Table } from '../../src/server/store/engine.js'

const rowSchema = z.object({ id: z.string(), version: z.int(), is_open: z.int(), doc: z.string() })

/** A table's rows, as another program reads them; empty where there is no database yet. */
export function storedRows(root: string, table: Table): z.output<typeof rowSchema>[] {
  if (!existsSync(join(root, 'server.db'))) return []
  return withDatabase(root, (database) => {
    if (!hasTable(database, table)) return []
    return rowSchema.array().parse(database.prepare(`SELECT * FROM ${table}`).all())
  })
}

/** Keeps the database for itself, as another program may: until the release, every write of a server is refused. */
export function holdStores(root: string): () => void {
  const database = new DatabaseSync(join(root, 'server.db'), { timeout: 5_000 })
  database.exec('BEGIN IMMEDIATE')
  return () => database.close()
}

/** A copy of everything that has been committed, without the terms of its server: a start ends them. */
export function copyStores(root: string, directory: string): void {
  withDatabase(root, (database) => database.prepare('VACUUM INTO ?').run(join(directory, 'server.db')))
  withDatabase(directory, (database) => database.exec('DELETE FROM leases'))
}

/** From now on every read and every write of an engine fails. */
export function breakStores(root: string): void {
  withDatabase(root, (database) => {
    for (const table of TABLES) database.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`)
  })
}

/** The ids of open documents, sorted. */
export function openIds(root: string, table: Table): string[] {
  return storedRows(root, table)
    .filter(({ is_open }) => is_open === 1)
    .map(({ id }) => id)
    .sort()
}

/** The document, undefined where there is none. */
export function storedText(root: string, table: Table, id: string): string | undefined {
  if (!existsSync(join(root, 'server.db'))) return undefined
  return withDatabase(root, (database) => {
    if (!hasTable(database, table)) return undefined
    const row = database.prepare(`SELECT * FROM ${table} WHERE id = ?`).get(id)
    return row && rowSchema.parse(row).doc
  })
}

/** Changes a stored document behind the server's back. */
export function setStoredText(root: string, table: Table, id: string, doc: string, isOpen?: boolean): void {
  withDatabase(root, (database) =>
    database
      .prepare(`UPDATE ${table} SET doc = ?, is_open = coalesce(?, is_open) WHERE id = ?`)
      .run(doc, isOpen === undefined ? null : Number(isOpen), id),
  )
}

/** As a loss of the document would. */
export function dropStored(root: string, table: Table, id: string): void {
  withDatabase(root, (database) => database.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id))
}

/** A server that is just starting has perhaps not made it. */
function hasTable(database: DatabaseSync, table: Table): boolean {
  return database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined
}

function withDatabase<T>(root: string, action: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(root, 'server.db'), { timeout: 5_000 })
  try {
    return action(database)
  } finally {
    database.close()
  }
}
