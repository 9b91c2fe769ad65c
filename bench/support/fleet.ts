import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { startPostgres } from '../../src/sandbox/postgres.js'
import { ask } from '../../test/faults/cluster/audit.js'
import { eventually } from '../../test/support/eventually.js'
import { BENCH_DIRECTORY, type BenchContext } from './figure.js'
import { makeDirectory, type Server, startServer } from './platform.js'
import { cpuMs } from './processes.js'

/** Servers that share a database. */
export interface Fleet {
  readonly servers: readonly Server[]
  /** CPU so far, in milliseconds. */
  cpu(): Promise<{ servers: number; database: number }>
  /** Starts the server anew that was killed, and resolves when the servers share the accounts again. */
  restart(index: number): Promise<void>
}

const countsSchema = z.array(z.object({ accounts: z.coerce.number(), holders: z.coerce.number() })).length(1)
const HOLDERS = `SELECT count(*) AS accounts, count(DISTINCT holder) AS holders FROM leases
  WHERE name LIKE 'relayer:%' AND expires_at > clock_timestamp()`

/** @param settingsOn the settings of a server on that database */
export async function startFleet(
  context: BenchContext,
  count: number,
  settingsOn: (databaseUrl: string) => Record<string, string>,
): Promise<Fleet> {
  const database = await startPostgres(BENCH_DIRECTORY)
  context.cleanUp.add(database.remove)
  const databaseUrl = (await database.createDatabase()).reveal()
  const servers: Server[] = []
  const start = async (index: number) => {
    servers[index] = await startServer(
      await makeDirectory(context, 'server'),
      settingsOn(databaseUrl),
      context,
    )
  }
  for (let index = 0; index < count; index++) await start(index)

  /** The servers hold one account each, or the one account that all of them have. */
  async function untilShared(): Promise<void> {
    await eventually('the servers to share the accounts', async () => {
      const [found] = countsSchema.parse(await ask(databaseUrl, HOLDERS))
      return found?.accounts === 1 || (found?.accounts === count && found.holders === count)
    })
  }
  await untilShared()
  return {
    servers,
    async cpu() {
      // PostgreSQL's first process, and those of its connections.
      const [first] = (await readFile(join(database.data, 'postmaster.pid'), 'utf8')).split('\n')
      const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8')
      const pids = [first, ...children.trim().split(' ')].map(Number)
      return { servers: await cpuMs(...servers.map(({ pid }) => pid)), database: await cpuMs(...pids) }
    },
    async restart(index) {
      await start(index)
      await untilShared()
    },
  }
}
