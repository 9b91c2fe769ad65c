import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine, Fence } from '../../../src/server/store/engine.js'
import { createDatabase } from '../../../src/server/store/postgres/database.js'
import { type Databases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import type { Secret } from '../../../src/service/secret.js'
import { handled } from '../../support/handled.js'
import { putRow } from '../../support/stores.js'
import { rowOf } from './contract/engineContract.js'

/** Enough for dozens of late rows where the fence has a hole. */
export const HANDOVERS = 100
const SERVERS = 4
const WRITERS_PER_SERVER = 5
const LEASE = 'relayer'
/** A busy machine may take long for a statement of so many. */
export const PATIENCE = { connectTimeoutMs: 60_000, queryTimeoutMs: 60_000 }

export const patientDatabases = (url: Secret): Databases => ({
  rows: createDatabase({ url, maxConnections: 10, ...PATIENCE }),
  leases: createDatabase({ url, maxConnections: 1, ...PATIENCE }),
})

/** Hands a lease over under writers that write until they are refused. Counts rows and those that came late. */
export async function handOver(url: Secret): Promise<{ rows: number; late: number }> {
  const { leases, rows: database } = patientDatabases(url)
  const taker = await openPostgres({ leases, rows: database })
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, () => openPostgres(patientDatabases(url))),
  )
  let current = await takeOver()
  let isOver = false
  let rows = 0

  async function write(server: Engine): Promise<void> {
    for (let fence = current; !isOver; ) {
      // A lease is taken in a moment in which no write under it is under way.
      await sleep(Math.random() * 40)
      const row = rowOf(`${fence.term}/${rows++}`, 1)
      const result = await putRow(server, 'relays', row, fence)
      if (result === 'lost-term') fence = current
    }
  }

  async function rowsOf(term: string): Promise<number> {
    return (await database.query('SELECT FROM relays WHERE id LIKE $1', [`${term}/%`])).length
  }

  async function takeOver(): Promise<Fence> {
    for (;;) {
      const fence = await taker.leases.take(LEASE, 'successor', 0)
      if (fence !== undefined) return fence
    }
  }

  const writers = servers.flatMap((server) =>
    Array.from({ length: WRITERS_PER_SERVER }, () => handled(write(server))),
  )
  const seen = new Map<string, number>()
  for (let handover = 0; handover < HANDOVERS; handover++) {
    const before = current.term
    current = await takeOver()
    seen.set(before, await rowsOf(before))
    await sleep(20)
  }
  isOver = true
  await Promise.all(writers)
  let late = 0
  for (const [term, count] of seen) late += (await rowsOf(term)) - count
  await Promise.all([...servers, taker].map((engine) => engine.stop()))
  return { rows, late }
}
