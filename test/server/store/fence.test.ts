// The successor of a lease reads after its take. It never sees a row of the term before that is
// committed later: a transaction that no server follows, a nonce given away twice.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { HANDOVERS, handOver } from './handOver.js'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

test('no row of a term comes after its successor has read', async () => {
  const { rows, late } = await handOver(await postgres.createDatabase())
  expect(rows).toBeGreaterThan(HANDOVERS)
  expect(late).toBe(0)
})
