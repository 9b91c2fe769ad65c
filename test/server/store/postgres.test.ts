import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { inspectPostgres } from '../../../src/operate/doctor/stores.js'
import { type Engine, StorageError, UnusableDatabaseError } from '../../../src/server/store/engine.js'
import type { Database } from '../../../src/server/store/postgres/database.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { Secret } from '../../../src/service/secret.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { putRow, takeOver } from '../../support/stores.js'
import { startTcpProxy } from '../../support/tcpProxy.js'
import { count, rowOf, testEngine } from './contract/engineContract.js'
import { patientDatabases } from './handOver.js'

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
  return openPostgres(patientDatabases(url))
})

/** The default, of which a statement about leases waits for a quarter. */
const TTL_MS = 10_000

const codeOf = (error: unknown) => (error instanceof StorageError ? error.code : String(error))

async function openAt(url: Secret): Promise<Engine> {
  const engine = await openPostgres(createDatabases(url))
  onTestFinished(() => engine.stop())
  return engine
}

/** A connection of the test's own. */
function connectionTo(url: Secret): Database {
  const { rows, leases } = createDatabases(url)
  onTestFinished(async () => void (await Promise.all([rows.end(), leases.end()])))
  return rows
}

describe('a start', () => {
  test('many servers that start at once migrate the database once', async () => {
    const url = await postgres.createDatabase()
    const engines = await Promise.all(Array.from({ length: 8 }, () => openAt(url)))
    const results = await Promise.all(
      engines.map((engine, index) => putRow(engine, 'orders', rowOf(`${index}`, 1))),
    )
    expect(results).toEqual(engines.map(() => 'written'))
    expect(await engines[0]?.open('orders')).toHaveLength(8)
  })

  test('makes a connection for leases that serves later statements, where the first ones give up', async () => {
    const proxy = await startTcpProxy(postgres.port)
    onTestFinished(proxy.stop)
    const url = new URL((await postgres.createDatabase()).reveal())
    url.port = String(proxy.port)
    const DELAY_MS = 100
    proxy.delay(DELAY_MS)
    // A statement takes two of these, connecting more than the three that a statement waits.
    const engine = await openPostgres(createDatabases(new Secret(url.href), 4 * 3 * DELAY_MS))
    onTestFinished(() => engine.stop())
    expect(codeOf(await engine.leases.list().catch((error: unknown) => error))).toBe('CONNECT_TIMEOUT')
    // Rows have more patience.
    expect(await engine.openIds('orders')).toEqual([])
    await eventually('the connection is made', async () => {
      const leases = await engine.leases.list().catch(() => undefined)
      return leases !== undefined
    })
  })

  test('refuses a schema of a later server, and leaves it as it is', async () => {
    const url = await postgres.createDatabase()
    await (await openPostgres(createDatabases(url))).stop()
    const rows = connectionTo(url)
    await rows.query('INSERT INTO schema_versions VALUES (99, now())')
    await expect(openPostgres(createDatabases(url))).rejects.toThrow(UnusableDatabaseError)
    await expect(openPostgres(createDatabases(url))).rejects.toThrow(/schema 99.*up to \d/)
    expect(await rows.query('SELECT version FROM schema_versions ORDER BY version')).toEqual([
      { version: 1 },
      { version: 99 },
    ])
  })

  test('the next version, whose schema only adds, leaves running servers at work', async () => {
    const url = await postgres.createDatabase()
    const engine = await openAt(url)
    const fence = await takeOver(engine, 'relayer')
    await putRow(engine, 'relays', rowOf('a', 1), fence)
    const rows = connectionTo(url)
    for (const statement of [
      'ALTER TABLE relays ADD COLUMN next text',
      'ALTER TABLE leases ADD COLUMN next text',
      'CREATE TABLE next (id text PRIMARY KEY)',
      'INSERT INTO schema_versions VALUES (2, now())',
    ]) {
      await rows.query(statement)
    }
    expect(await putRow(engine, 'relays', rowOf('a', 2), fence)).toBe('written')
    expect(await putRow(engine, 'relays', rowOf('b', 1), fence)).toBe('written')
    expect(await engine.leases.renew(fence, 1_000)).toBe(true)
    expect(await engine.open('relays')).toEqual([rowOf('a', 2), rowOf('b', 1)])
  })

  test.each([
    ['answers commits before they are durable', 'synchronous_commit', 'off'],
    ['lets concurrent writes fail at once', 'default_transaction_isolation', 'repeatable read'],
  ])('refuses a database that %s', async (_what, setting, value) => {
    const url = await postgres.createDatabase()
    const name = new URL(url.reveal()).pathname.slice(1)
    await postgres.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`)
    const refused = openPostgres(createDatabases(url))
    await expect(refused).rejects.toThrow(UnusableDatabaseError)
    await expect(refused).rejects.toThrow(`${setting} = ${value}`)
    const { durability, strictIsolation, schema } = await inspectPostgres(url)
    expect([durability.fault ?? strictIsolation, schema]).toEqual([`${setting} = ${value}`, 0])
    await postgres.query(`ALTER DATABASE ${name} RESET ${setting}`)
    expect((await (await openAt(url)).durability?.())?.fault).toBeNull()
  })
})

describe('through a network that fails', () => {
  async function setUp() {
    const proxy = await startTcpProxy(postgres.port)
    onTestFinished(() => proxy.stop())
    const url = await postgres.createDatabase(proxy.port)
    const direct = new Secret(url.reveal().replace(`:${proxy.port}/`, `:${postgres.port}/`))
    return { proxy, engine: await openAt(url), direct: await openAt(direct) }
  }

  test('a write whose answer is lost is refused, and its repeat finds it', async () => {
    const { proxy, engine, direct } = await setUp()
    const row = rowOf('a', 1, { doc: 'mine' })
    await putRow(engine, 'orders', rowOf('b', 1))
    proxy.set('lose-answers')
    const refused = putRow(engine, 'orders', row).catch(codeOf)
    await eventually('the row is written', () => direct.get('orders', 'a'))
    proxy.cut()
    expect(await refused).toBe('ECONNRESET')
    proxy.set('pass')
    expect(await putRow(engine, 'orders', row)).toBe('conflict')
    expect(await engine.get('orders', 'a')).toEqual(row)
  })

  test('a database that gives no answer refuses what waits for it, and is asked again', async () => {
    const { proxy, engine, direct } = await setUp()
    const fence = await takeOver(engine, 'relayer')
    await Promise.all(Array.from({ length: 20 }, (_, index) => engine.get('orders', `${index}`)))
    proxy.set('hang')
    const first = handled(putRow(engine, 'orders', rowOf('a', 1), fence))
    await new Promise(setImmediate)
    // Each of these would be a batch of its own, and wait for itself.
    const later = Array.from({ length: 20 }, (_, index) => putRow(engine, 'orders', rowOf('b', index + 1)))
    const calls = [
      first,
      ...later,
      engine.get('orders', 'a'),
      engine.leases.renew(fence, 1),
      engine.leases.list(),
    ]
    const codes = await Promise.all(calls.map((call) => call.catch(codeOf)))
    expect(new Set(codes)).toEqual(new Set(['ETIMEDOUT', 'CONNECT_TIMEOUT']))
    proxy.set('pass')
    // The connections that were idle during the silence are as dead as the others, and none of them is used again.
    expect(await putRow(engine, 'orders', rowOf('c', 1), fence)).toBe('written')
    expect(await direct.get('orders', 'c')).toEqual(rowOf('c', 1))
    expect(await engine.leases.renew(fence, 1)).toBe(true)
  })

  test('a lease that waits behind a statement without an answer is renewed on the next connection', async () => {
    const { proxy, engine } = await setUp()
    const fences = [await takeOver(engine, 'relayer'), await takeOver(engine, 'trigger')] as const
    proxy.set('hang')
    const lost = engine.leases.renew(fences[0], TTL_MS).catch(codeOf)
    // The connection of now hangs until its end, and the next one does not.
    proxy.set('pass')
    await sleep(TTL_MS / 8)
    expect(await engine.leases.renew(fences[1], TTL_MS)).toBe(true)
    expect(await lost).toBe('ETIMEDOUT')
  })
})

/** How many deadlocks PostgreSQL has found in a database. */
async function deadlocksOf(url: Secret): Promise<number> {
  const rows = connectionTo(url)
  const [found] = await rows.query(
    'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()',
  )
  return z.object({ deadlocks: z.int() }).parse(found).deadlocks
}

test('two servers that are given the same rows in opposite orders do not wait for each other', async () => {
  const url = await postgres.createDatabase()
  const [one, other] = [await openAt(url), await openAt(url)]
  for (let round = 0; round < 100; round++) {
    const rows = Array.from({ length: 20 }, (_, index) => rowOf(`${round}/${index}`, 1))
    const results = await Promise.all([
      ...rows.map((row) => putRow(one, 'orders', row)),
      ...rows.toReversed().map((row) => putRow(other, 'orders', row)),
    ])
    expect(count(results)).toEqual({ written: rows.length, conflict: rows.length })
  }
  expect(await deadlocksOf(url)).toBe(0)
})
