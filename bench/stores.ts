import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '../src/sandbox/postgres.js'
import type { Engine } from '../src/server/store/engine.js'
import { built } from '../test/support/built.js'
import type { Figure } from './support/figure.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import { spreadOf } from './support/statistics.js'

const CALLERS = 64
const DOC = JSON.stringify({ envelope: 'x'.repeat(1_080) })
const BAR = 0.8

/** Durable inserts, without a server in front of the engines. */
export const stores: Figure = {
  name: 'stores',
  title: 'Durable writes: PostgreSQL beside SQLite',
  async measure({ rounds, roundMs }) {
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
        SQLite: await sqlite.startSqlite({ directory, onBroken }),
        PostgreSQL: await postgres.openPostgres(postgres.createDatabases(await server.createDatabase())),
      }
      const measured: Record<keyof typeof engines, Written>[] = []
      for (let round = 0; round <= rounds; round++) {
        const pair = {
          SQLite: await writeFor(roundMs, engines.SQLite),
          PostgreSQL: await writeFor(roundMs, engines.PostgreSQL),
        }
        // The first round warms up.
        if (round > 0) measured.push(pair)
      }
      await Promise.all(Object.values(engines).map((engine) => engine.stop()))
      const rows = (['SQLite', 'PostgreSQL'] as const).map((what) => ({
        what,
        cells: {
          'writes/s': spreadOf(measured.map((round) => round[what].perSecond)),
          'CPU µs in Node': spreadOf(measured.map((round) => round[what].cpuUs)),
        },
      }))
      const ratio = spreadOf(
        measured.map(({ SQLite, PostgreSQL }) => PostgreSQL.perSecond / SQLite.perSecond),
      )
      const bars = [{ what: 'writes/s, PostgreSQL ÷ SQLite', value: ratio, atLeast: BAR }]
      const notes = [
        `medians of ${rounds} rounds in turns, ${CALLERS} callers, documents of ${DOC.length} bytes`,
        "the CPU is of the process that writes, with its threads; PostgreSQL's own comes on top",
      ]
      return { rows, bars, notes, rounds: measured }
    } finally {
      await server.remove()
      await rm(directory, { recursive: true, force: true })
    }
  },
}

interface Written {
  readonly perSecond: number
  readonly cpuUs: number
}

async function writeFor(ms: number, engine: Engine): Promise<Written> {
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
  return { perSecond: (1_000 * writes) / (performance.now() - startedAt), cpuUs: (user + system) / writes }
}
