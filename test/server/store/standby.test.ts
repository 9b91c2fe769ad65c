import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { checkStores } from '../../../src/operate/doctor/stores.js'
import { createStoreView } from '../../../src/server/ops/checks.js'
import { createStateDocument } from '../../../src/server/store/documents.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { Secret } from '../../../src/service/secret.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { type Postgres, servePostgres, startPostgres } from '../../support/postgres.js'
import { serverConfig } from '../../support/serverEnvironment.js'

// A PostgreSQL whose commits wait for a standby, as the server, its readiness and the doctor see it.

async function addStandby(primary: Postgres): Promise<Postgres> {
  const { host, port, user } = primary
  const from = ['-h', '127.0.0.1', '-p', String(port), '-U', user]
  await host.run('pg_basebackup', ['-D', join(host.directory, 'standby'), '-R', '-c', 'fast', ...from])
  const standby = await servePostgres(host, 'standby')
  onTestFinished(() => standby.kill())
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await primary.query('SELECT pg_reload_conf()')
  return standby
}

test('a standby is seen while it is connected, and a user without the right to see it is no fault', {
  timeout: 120_000,
}, async () => {
  const primary = await startPostgres()
  onTestFinished(() => primary.remove())
  const url = await primary.createDatabase()
  const engine = await openPostgres(createDatabases(url))
  onTestFinished(() => engine.stop())
  const { logger } = createLogLines()
  const document = createStateDocument({ engine, logger, id: 'readiness', schema: z.int() })
  const { inspect, standbys } = createStoreView(document, engine)
  const doctor = async (at: Secret) =>
    (await checkStores({ ...serverConfig(), databaseUrl: at })).find(({ check }) => check.endsWith('standby'))
  expect([await inspect(), standbys()]).toEqual([null, 0])
  expect(await doctor(url)).toMatchObject({ result: 'notice' })

  const standby = await addStandby(primary)
  await eventually(
    'a commit waits for the standby',
    async () => (await inspect()) === null && standbys() === 1,
  )
  expect(await doctor(url)).toMatchObject({ result: 'ok', text: expect.stringContaining('1 of them') })
  expect((await checkStores({ ...serverConfig(), databaseUrl: urlOf(standby, url) }))[0]).toMatchObject({
    result: 'fault',
    text: expect.stringContaining('it is read-only'),
  })

  await primary.query("CREATE ROLE blind LOGIN PASSWORD 'blind' IN ROLE pg_read_all_data")
  const blind = new URL(url.reveal())
  blind.username = blind.password = 'blind'
  expect(await doctor(new Secret(blind.href))).toMatchObject({
    result: 'unchecked',
    text: expect.stringContaining('pg_monitor'),
  })

  await standby.kill()
  await eventually('the standby is missing', async () => (await inspect()) === 'standby-missing')
  expect(standbys()).toBe(0)
  expect(await doctor(url)).toMatchObject({ result: 'fault' })
  await standby.start()
  await eventually('the standby is back', async () => (await inspect()) === null)
})

function urlOf(server: Postgres, url: Secret): Secret {
  const other = new URL(url.reveal())
  other.port = String(server.port)
  return new Secret(other.href)
}
