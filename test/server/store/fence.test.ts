// The successor of a lease reads after its take. It never sees a row of the term before that is
// committed later: a transaction that no server follows, a nonce given away twice.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Engine, Fence } from '../../../src/server/store/engine.js'
import type { Database } from '../../../src/server/store/postgres/database.js'
import {
  createDatabases,
  type Databases,
  openPostgres,
  TAKE_LEASE,
} from '../../../src/server/store/postgres/postgresEngine.js'
import { CREATE_TRANSACT } from '../../../src/server/store/postgres/schema.js'
import type { Secret } from '../../../src/service/secret.js'
import { handled } from '../../support/handled.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { putRow } from '../../support/stores.js'
import { rowOf } from './contract/engineContract.js'

/** Enough for dozens of late rows where the fence has a hole. */
const HANDOVERS = 100
const SERVERS = 4
const WRITERS_PER_SERVER = 5
const LEASE = 'relayer'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

/** Hands a lease over under writers that write until they are refused. Counts rows and those that came late. */
async function handOver(
  url: Secret,
  connect: (url: Secret) => Databases,
): Promise<{ rows: number; late: number }> {
  const { leases, rows: database } = createDatabases(url)
  const taker = await openPostgres({ ...connect(url), rows: database })
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => openPostgres(connect(url))))
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
  await leases.end()
  return { rows, late }
}

test('no row of a term comes after its successor has read', { timeout: 120_000 }, async () => {
  const { rows, late } = await handOver(await postgres.createDatabase(), createDatabases)
  expect(rows).toBeGreaterThan(HANDOVERS)
  expect(late).toBe(0)
})

test.each([
  ['is missing', "RAISE SQLSTATE 'BE001' USING MESSAGE = 'lost-term'", 'NULL'],
  ['is only looked at, and not locked', ' FOR KEY SHARE', ''],
])('rows come late once the fence %s', { timeout: 120_000 }, async (_, part, weaker) => {
  const url = await postgres.createDatabase()
  await (await openPostgres(createDatabases(url))).stop()
  const client = new pg.Client({ connectionString: url.reveal() })
  onTestFinished(() => client.end())
  await client.connect()
  await client.query(CREATE_TRANSACT.replace('CREATE', 'CREATE OR REPLACE').replace(part, weaker))
  expect((await handOver(url, createDatabases)).late).toBeGreaterThan(0)
})

test('rows come late once a take is a transaction of several statements', { timeout: 120_000 }, async () => {
  const url = await postgres.createDatabase()
  const { late } = await handOver(url, () => {
    const { rows, leases } = createDatabases(url)
    const client = new pg.Client({ connectionString: url.reveal() })
    const connected = client.connect()
    onTestFinished(() => client.end())
    const inSteps: Database['query'] = async (text, values = [], ...rest) => {
      const [, name, term, holder] = values
      if (text !== TAKE_LEASE) return leases.query(text, values, ...rest)
      await connected
      await client.query('BEGIN')
      const { rowCount } = await client.query('SELECT FROM leases WHERE name = $1 AND expires_at > now()', [
        name,
      ])
      if (rowCount === 0) {
        await client.query('INSERT INTO leases VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING', [
          name,
          term,
          holder,
        ])
        await client.query('UPDATE leases SET term = $2, holder = $3, expires_at = now() WHERE name = $1', [
          name,
          term,
          holder,
        ])
      }
      await client.query('COMMIT')
      return rowCount === 0 ? [{ name }] : []
    }
    return { rows, leases: { ...leases, query: inSteps } }
  })
  expect(late).toBeGreaterThan(0)
})
