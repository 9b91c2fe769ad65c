// A process that writes without end, 16 rows at a time, and prints each id once its write was acknowledged. A refused write
// prints `refused <code>`, a broken medium `broken <code>`. Its arguments: the compiled module of the engine, as a thread
// cannot be started from TypeScript, and the directory.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , module = '', directory = ''] = process.argv
const { startSqlite }: typeof import('../../../src/server/store/sqlite/sqliteEngine.js') = await import(
  module
)
const say = (line: string) => process.stdout.write(`${line}\n`)
const engine = await startSqlite({ directory, onBroken: ({ code }) => say(`broken ${code}`) })
const doc = 'x'.repeat(1_100)

async function write(): Promise<void> {
  for (;;) {
    const id = randomUUID()
    try {
      const row = { id, version: 1, isOpen: true, uniqueKey: null, doc }
      await engine.transact([{ kind: 'put', table: 'orders', row }])
      say(id)
    } catch (error) {
      say(`refused ${error instanceof Error && 'code' in error ? error.code : error}`)
      await sleep(20)
    }
  }
}

await Promise.all(Array.from({ length: 16 }, write))
