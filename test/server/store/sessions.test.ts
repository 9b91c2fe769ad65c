import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type Database } from '../../../src/server/store/postgres/database.js'
import { openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import type { Secret } from '../../../src/service/secret.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { testEngine } from './contract/engineContract.js'
import { HANDOVERS, handOver, PATIENCE } from './handOver.js'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

// The successor of a lease reads after its take. It never sees a row of the term before that is
// committed later: a transaction that no server follows, a nonce given away twice.
test('no row of a term comes after its successor has read', async () => {
  const { rows, late } = await handOver(await postgres.createDatabase())
  expect(rows).toBeGreaterThan(HANDOVERS)
  expect(late).toBe(0)
})

const databases = new Map<string, Secret>()

// Like behind PgBouncer, where the next statement may run in any session.
testEngine('PostgreSQL, a session for each statement', async (place) => {
  const url = databases.get(place) ?? (await postgres.createDatabase())
  databases.set(place, url)
  const query: Database['query'] = async (...statement) => {
    const session = createDatabase({ url, maxConnections: 1, ...PATIENCE })
    return session.query(...statement).finally(() => session.end())
  }
  const database = { query, end: async () => undefined }
  return openPostgres({ rows: database, leases: database })
})
