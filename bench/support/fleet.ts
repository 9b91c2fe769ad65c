import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ask } from '../../test/faults/cluster/audit.js'
import { eventually } from '../../test/support/eventually.js'
import type { BenchContext } from './figure.js'
import { type Server, startDatabase, startServer } from './platform.js'
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

/** @param settings of each server, but for their database */
export async function startFleet(
  context: BenchContext,
  count: number,
  settings: Record<string, string>,
): Promise<Fleet> {
  const { postgres, DATABASE_URL } = await startDatabase(context)
  const servers: Server[] = []
  const start = async (index: number) => {
    servers[index] = await startServer(context, { ...settings, DATABASE_URL })
  }
  for (let index = 0; index < count; index++) await start(index)

  /** The servers hold one account each, or the one account that all of them have. */
  async function untilShared(): Promise<void> {
    await eventually('the servers to share the accounts', async () => {
      const [found] = countsSchema.parse(await ask(DATABASE_URL, HOLDERS))
      return found?.accounts === 1 || (found?.accounts === count && found.holders === count)
    })
  }
  await untilShared()
  return {
    servers,
    async cpu() {
      // PostgreSQL's first process, and those of its connections.
      const [first] = (await readFile(join(postgres.data, 'postmaster.pid'), 'utf8')).split('\n')
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
