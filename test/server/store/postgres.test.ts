import { afterAll, beforeAll } from 'vitest'
import type { Secret } from '../../../src/server/secret.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { testEngine } from './contract/engineContract.js'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

const databases = new Map<string, Secret>()

/** A database for each place. */
testEngine('PostgreSQL', async (place) => {
  const url = databases.get(place) ?? (await postgres.createDatabase())
  databases.set(place, url)
  return openPostgres(createDatabases(url))
})
