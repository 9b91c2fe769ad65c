import { spawn } from 'node:child_process'
import { open as openFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { StorageError, storageError } from '../../../src/server/store/engine.js'
import { openDatabase } from '../../../src/server/store/sqlite/database.js'
import { createSqliteEngine, type GroupWriter } from '../../../src/server/store/sqlite/sqliteEngine.js'
import { createWriter } from '../../../src/server/store/sqlite/writer.js'
import { built } from '../../support/built.js'
import { openQuickly } from '../../support/quickStores.js'
import { putRow } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { rowOf, testEngine } from './contract/engineContract.js'

const { startSqlite }: typeof import('../../../src/server/store/sqlite/sqliteEngine.js') = await import(
  built('server/store/sqlite/sqliteEngine.js')
)

function failTest(error: StorageError): void {
  throw error
}

const open = (directory: string) => startSqlite({ directory, onBroken: failTest })

testEngine('SQLite', open)

test('the database is for its owner alone', async () => {
  const directory = join(await temporaryDirectory(), 'data')
  const engine = await open(directory)
  await putRow(engine, 'orders', rowOf('a', 1))
  const names = ['', 'server.db', 'server.db-wal', 'server.db-shm']
  const modes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).mode & 0o777))
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
  await engine.stop()
})

test('a database of a later server is left as it is', async () => {
  const directory = await temporaryDirectory()
  await (await open(directory)).stop()
  const database = new DatabaseSync(join(directory, 'server.db'))
  database.exec('PRAGMA user_version = 99')
  database.close()
  const refused = open(directory)
  await expect(refused).rejects.toMatchObject({ name: 'UnusableDatabaseError' })
  await expect(refused).rejects.toThrow(/schema 99.*up to \d/)
})

test('a file that is no database is not written over', async () => {
  const directory = await temporaryDirectory()
  const file = await openFile(join(directory, 'server.db'), 'w')
  await file.writeFile('these are not the bytes of a database, whatever the name says '.repeat(100))
  await file.close()
  await expect(open(directory)).rejects.toMatchObject({ name: 'StorageError', code: 'SQLITE_NOTADB' })
})

test('a start ends the terms of the process before it', async () => {
  const directory = await temporaryDirectory()
  const first = await open(directory)
  const earlier = await first.leases.take('trigger', 'first', 60_000)
  await first.stop()
  const second = await open(directory)
  expect(await putRow(second, 'runs', rowOf('a', 1), earlier)).toBe('lost-term')
  expect(await second.leases.take('trigger', 'second', 60_000)).toBeDefined()
  await second.stop()
})

test('a row that was read during its write is read again', async () => {
  const directory = await temporaryDirectory()
  const direct = await openQuickly(directory)
  await putRow(direct, 'orders', rowOf('an id', 1))
  await direct.stop()
  const writer = createWriter(openDatabase(directory))
  const begun = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<void>()
  const engine = createSqliteEngine(
    { directory, onBroken: failTest },
    {
      async commit(group) {
        begun.resolve()
        await rest.promise
        return writer.commit(group)
      },
      close: async () => writer.close(),
    },
  )
  onTestFinished(() => engine.stop())
  const written = putRow(engine, 'orders', rowOf('an id', 2))
  await begun.promise
  expect(await engine.get('orders', 'an id')).toEqual(rowOf('an id', 1))
  rest.resolve()
  expect(await written).toBe('written')
  expect(await engine.get('orders', 'an id')).toEqual(rowOf('an id', 2))
})

test.each([
  ['SQLITE_FULL', 'is refused, and the next one is tried', false],
  ['SQLITE_BUSY', 'is refused, and the next one is tried', false],
  ['SQLITE_IOERR', 'is the last: nothing is written from then on', true],
  ['SQLITE_CORRUPT', 'is the last: nothing is written from then on', true],
  ['UNKNOWN', 'is the last: nothing is written from then on', true],
])('a group that ends in %s %s', async (code, _what, isLast) => {
  const directory = await temporaryDirectory()
  await (await openQuickly(directory)).stop()
  const sizes: number[] = []
  let failure: Error | undefined = storageError(code)
  const writer: GroupWriter = {
    async commit(group) {
      sizes.push(group.length)
      if (failure !== undefined) throw failure
      return group.map(() => 'written' as const)
    },
    close: async () => {},
  }
  const broken: (string | undefined)[] = []
  const engine = createSqliteEngine({ directory, onBroken: (error) => broken.push(error.code) }, writer)
  onTestFinished(() => engine.stop())
  const put = (id: string) => putRow(engine, 'orders', rowOf(id, 1)).catch(codeOf)
  expect(await Promise.all([put('a'), put('b')])).toEqual([code, code])
  failure = undefined
  expect(await put('c')).toEqual(isLast ? code : 'written')
  expect(sizes).toEqual(isLast ? [2] : [2, 1])
  expect(broken).toEqual(isLast ? [code] : [])
})

function codeOf(error: unknown): string | undefined {
  return error instanceof StorageError ? error.code : String(error)
}

const CHILD = fileURLToPath(new URL('./sqliteWriterProcess.ts', import.meta.url))

test('acknowledged writes are there after SIGKILL, wherever it strikes', async () => {
  const directory = await temporaryDirectory()
  const acknowledged: string[] = []
  for (const n of [1, 200, 3_000]) {
    const args = ['--import', 'tsx', CHILD, built('server/store/sqlite/sqliteEngine.js'), directory]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let count = 0
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line)
      if (++count === n) child.kill('SIGKILL')
    }
    expect(count).toBeGreaterThanOrEqual(n)
    const engine = await open(directory)
    const rows = await Promise.all(acknowledged.map((id) => engine.get('orders', id)))
    expect(rows).not.toContain(undefined)
    await engine.stop()
  }
})
