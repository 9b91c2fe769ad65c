// The fence with a hole: the test that hands leases over notices each.
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../../src/server/store/postgres/database.js'
import { openPostgres, TAKE_LEASE } from '../../../src/server/store/postgres/postgresEngine.js'
import { CREATE_TRANSACT } from '../../../src/server/store/postgres/schema.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { handOver, patientDatabases } from './handOver.js'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

test.each([
  ['is missing', "RAISE SQLSTATE 'BE001' USING MESSAGE = 'lost-term'", 'NULL'],
  ['is only looked at, and not locked', ' FOR KEY SHARE', ''],
])('rows come late once the fence %s', async (_, part, weaker) => {
  const url = await postgres.createDatabase()
  await (await openPostgres(patientDatabases(url))).stop()
  const client = new pg.Client({ connectionString: url.reveal() })
  onTestFinished(() => client.end())
  await client.connect()
  await client.query(CREATE_TRANSACT.replace('CREATE', 'CREATE OR REPLACE').replace(part, weaker))
  expect((await handOver(url)).late).toBeGreaterThan(0)
})

test('rows come late once a take is a transaction of several statements', async () => {
  const url = await postgres.createDatabase()
  const { late } = await handOver(url, () => {
    const { rows, leases } = patientDatabases(url)
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
