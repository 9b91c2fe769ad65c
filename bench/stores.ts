import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../src/sandbox/postgres.js'
import type { Engine } from '../src/server/store/engine.js'
import { built } from '../test/support/built.js'
import type { Figure } from './support/figure.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import type { StoresRound } from './support/storesResult.js'

const CALLERS = 64
const DOC = JSON.stringify({ envelope: 'x'.repeat(1_080) })

/** Durable inserts, without a server in front of the engines. */
export const stores: Figure = {
  name: 'stores',
  title: 'Durable writes: PostgreSQL beside SQLite',
  async measure({ rounds }) {
    const sqlite: typeof import('../src/server/store/sqlite/sqliteEngine.js') = await import(
      built('server/store/sqlite/sqliteEngine.js')
    )
    const postgres: typeof import('../src/server/store/postgres/postgresEngine.js') = await import(
      built('server/store/postgres/postgresEngine.js')
    )
    const directory = join(BENCH_DIRECTORY, `stores-${Date.now()}`)
    const server = await startPostgres(BENCH_DIRECTORY)
    try {
      const onBroken = (error: Error) => {
        throw error
      }
      const engines = {
        sqlite: await sqlite.startSqlite({ directory, onBroken }),
        postgres: await postgres.openPostgres(postgres.createDatabases(await server.createDatabase())),
      }
      const results: { sqlite: StoresRound; postgres: StoresRound }[] = []
      // The first round warms up.
      for (let round = 0; round <= rounds.rounds; round++) {
        const pair = {
          sqlite: await writeFor(rounds.roundMs, engines.sqlite),
          postgres: await writeFor(rounds.roundMs, engines.postgres),
        }
        if (round > 0) results.push(pair)
      }
      await Promise.all(Object.values(engines).map((engine) => engine.stop()))
      return { kind: 'stores', callers: CALLERS, bytes: DOC.length, rounds: results }
    } finally {
      await server.remove()
      await rm(directory, { recursive: true, force: true })
    }
  },
}

async function writeFor(ms: number, engine: Engine): Promise<StoresRound> {
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  let writes = 0
  async function write(): Promise<void> {
    while (performance.now() - startedAt < ms) {
      const row = { id: randomUUID(), version: 1, isOpen: true, uniqueKey: null, doc: DOC }
      if ((await engine.put('orders', row)) !== 'written') throw new Error('a row was not written')
      writes++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, write))
  const { user, system } = process.cpuUsage(cpu)
  return {
    perSecond: (1_000 * writes) / (performance.now() - startedAt),
    cpuUsPerWrite: (user + system) / writes,
  }
}
