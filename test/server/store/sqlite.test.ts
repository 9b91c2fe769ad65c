import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open as openFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Engine, StorageError, storageError } from '../../../src/server/store/engine.js'
import { openDatabase } from '../../../src/server/store/sqlite/database.js'
import { createSqliteEngine, type GroupWriter } from '../../../src/server/store/sqlite/sqliteEngine.js'
import { createWriter } from '../../../src/server/store/sqlite/writer.js'
import { built } from '../../support/built.js'
import { openQuickly } from '../../support/quickStores.js'
import { deleteRow, putRow } from '../../support/stores.js'
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

/** A writer that commits a group when it is let, or fails it. */
function createHeldWriter() {
  const groups: { size: number; answer: (failure?: string) => void }[] = []
  const writer: GroupWriter = {
    commit: (group) =>
      new Promise((resolve, reject) => {
        const answer = (failure?: string) =>
          failure === undefined ? resolve(group.map(() => 'written' as const)) : reject(storageError(failure))
        groups.push({ size: group.length, answer })
      }),
    close: async () => {},
  }
  return { groups, writer }
}

describe('a row that has been read', () => {
  test('is the very same object until it is written or deleted', async () => {
    const engine = await openQuickly(await temporaryDirectory())
    onTestFinished(() => engine.stop())
    for (const version of [1, 2]) {
      await putRow(engine, 'orders', rowOf('an id', version))
      const row = await engine.get('orders', 'an id')
      expect(row).toEqual(rowOf('an id', version))
      expect(await engine.get('orders', 'an id')).toBe(row)
      expect(await engine.get('runs', 'an id')).toBeUndefined()
    }
    await deleteRow(engine, 'orders', 'an id', 2)
    expect(await engine.get('orders', 'an id')).toBeUndefined()
  })

  test('is not kept when it was read during its write', async () => {
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
})

describe('a group', () => {
  async function setUp() {
    const directory = await temporaryDirectory()
    await (await openQuickly(directory)).stop()
    const held = createHeldWriter()
    const broken: (string | undefined)[] = []
    const onBroken = ({ code }: StorageError) => broken.push(code)
    const engine = createSqliteEngine({ directory, onBroken }, held.writer)
    onTestFinished(() => engine.stop())
    let ids = 0
    const put = (times: number) =>
      Array.from({ length: times }, () => putRow(engine, 'orders', rowOf(`${ids++}`, 1)).catch(codeOf))
    const turn = () => new Promise(setImmediate)
    return { ...held, broken, put, turn }
  }

  test('holds the writes of one turn, then all that came during the commit before', async () => {
    const { groups, put, turn } = await setUp()
    const first = put(3)
    await turn()
    const second = [...put(2), ...put(2)]
    await turn()
    expect(groups.map(({ size }) => size)).toEqual([3])
    groups[0]?.answer()
    await Promise.all(first)
    await turn()
    expect(groups.map(({ size }) => size)).toEqual([3, 4])
    groups[1]?.answer()
    expect(await Promise.all(second)).toHaveLength(4)
  })

  test.each(['SQLITE_FULL', 'SQLITE_BUSY'])(
    'a group that ends in %s is refused, and the next one is tried',
    async (code) => {
      const { groups, broken, put, turn } = await setUp()
      const first = put(2)
      await turn()
      groups[0]?.answer(code)
      expect(await Promise.all(first)).toEqual([code, code])
      const second = put(1)
      await turn()
      groups[1]?.answer()
      expect(await Promise.all(second)).toEqual(['written'])
      expect(broken).toEqual([])
    },
  )

  test.each(['SQLITE_IOERR', 'SQLITE_CORRUPT', 'UNKNOWN'])(
    'a group that ends in %s is the last: nothing is written from then on',
    async (code) => {
      const { groups, broken, put, turn } = await setUp()
      const first = put(2)
      await turn()
      const meanwhile = put(1)
      groups[0]?.answer(code)
      expect(await Promise.all([...first, ...meanwhile])).toEqual([code, code, code])
      expect(await Promise.all(put(1))).toEqual([code])
      expect(groups).toHaveLength(1)
      expect(broken).toEqual([code])
    },
  )
})

function codeOf(error: unknown): string | undefined {
  return error instanceof StorageError ? error.code : String(error)
}

const CHILD = fileURLToPath(new URL('./sqliteWriterProcess.ts', import.meta.url))

/** A process that writes without end, and prints each id once its write was acknowledged, or the code of a failure. */
function startWriting(directory: string): {
  child: ChildProcess
  lines: string[]
  until(n: number): Promise<void>
} {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', CHILD, built('server/store/sqlite/sqliteEngine.js'), directory],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(line))
  return {
    child,
    lines,
    async until(n) {
      while (lines.length < n) await once(reader, 'line')
    },
  }
}

async function absentOf(engine: Engine, ids: readonly string[]): Promise<string[]> {
  const rows = await Promise.all(ids.map((id) => engine.get('orders', id)))
  return ids.filter((_, index) => rows[index] === undefined)
}

test('acknowledged writes are there after SIGKILL, wherever it strikes', async () => {
  const directory = await temporaryDirectory()
  const acknowledged: string[] = []
  for (const n of [1, 200, 3_000]) {
    const { child, lines, until } = startWriting(directory)
    await until(n)
    child.kill('SIGKILL')
    await once(child, 'close')
    acknowledged.push(...lines)
    const engine = await open(directory)
    expect(acknowledged.length).toBeGreaterThanOrEqual(n)
    expect(await absentOf(engine, acknowledged)).toEqual([])
    await engine.stop()
  }
})
