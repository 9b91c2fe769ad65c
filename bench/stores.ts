import { randomUUID } from 'node:crypto'
import { startPostgres } from '../src/sandbox/postgres.js'
import type { Engine } from '../src/server/store/engine.js'
import { createDatabases, openPostgres } from '../src/server/store/postgres/postgresEngine.js'
import { BENCH_DIRECTORY, type Figure, ratio, type Turn } from './support/figure.js'
import { makeDirectory, startSqlite } from './support/platform.js'

const CALLERS = 64
const DOC = JSON.stringify({ envelope: 'x'.repeat(1_080) })

/** Durable inserts, without a server in front of the engines. */
export const stores: Figure = {
  name: 'stores',
  title: 'Durable writes: PostgreSQL beside SQLite',
  async prepare(context) {
    const { cleanUp, options } = context
    const server = await startPostgres(BENCH_DIRECTORY)
    cleanUp.add(server.remove)
    const SQLite = await startSqlite(await makeDirectory(context, 'stores'))
    const PostgreSQL = await openPostgres(createDatabases(await server.createDatabase()))
    cleanUp.add(async () => void (await Promise.all([SQLite.stop(), PostgreSQL.stop()])))
    return {
      rows: { SQLite: writesTo(SQLite, options.seconds), PostgreSQL: writesTo(PostgreSQL, options.seconds) },
      bars: [ratio('writes/s', 'PostgreSQL', 'SQLite', { atLeast: 0.8 })],
      notes: ["the CPU is of the process that writes, with its threads; PostgreSQL's own comes on top"],
    }
  },
}

function writesTo(engine: Engine, seconds: number): Turn {
  return async () => {
    const startedAt = performance.now()
    const cpu = process.cpuUsage()
    let writes = 0
    async function write(): Promise<void> {
      while (performance.now() - startedAt < seconds * 1_000) {
        const row = { id: randomUUID(), version: 1, isOpen: true, uniqueKey: null, doc: DOC }
        if ((await engine.put('orders', row)) !== 'written') throw new Error('a row was not written')
        writes++
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, write))
    const { user, system } = process.cpuUsage(cpu)
    const perSecond = (1_000 * writes) / (performance.now() - startedAt)
    return { 'writes/s': perSecond, 'CPU µs in Node': (user + system) / writes }
  }
}
