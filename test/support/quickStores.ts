import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/server/store/engine.js'
import { openDatabase, prepareDatabase, sqliteFailure } from '../../src/server/store/sqlite/database.js'
import { createSqliteEngine } from '../../src/server/store/sqlite/sqliteEngine.js'
import { createWriter } from '../../src/server/store/sqlite/writer.js'

/**
 * The stores of a directory in this thread, which does not wait for syncs: a server in the test's own process would stand still
 * for that long, and the chain beside it would not. A process that is killed loses nothing by it, only a power cut would.
 */
export async function openQuickly(directory: string): Promise<Engine> {
  // An existing database may be in use, and preparing it would end the terms of its user.
  if (!existsSync(join(directory, 'server.db'))) prepareDatabase(directory)
  const database = openDatabase(directory)
  database.exec('PRAGMA synchronous = OFF')
  const writer = createWriter(database)
  return createSqliteEngine(
    // Every later write is refused, which is seen by what it was for.
    { directory, onBroken: () => undefined },
    {
      async commit(group) {
        try {
          return writer.commit(group)
        } catch (error) {
          throw sqliteFailure(error)
        }
      },
      close: async () => writer.close(),
    },
  )
}
