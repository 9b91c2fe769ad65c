import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite'

/**
 * Opens an SQLite database. An import of `node:sqlite` would fail on an older Node before `requireNode` could report its version.
 * @throws SQLite's error
 */
export function openSqliteDatabase(path: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  return new DatabaseSync(path, options)
}
