import { once } from 'node:events'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Postgres, startPostgres } from '../../src/sandbox/postgres.js'
import { ask } from '../../test/faults/cluster/audit.js'
import type { Target } from './compare.js'
import { BENCH_DIRECTORY } from './platform.js'
import { cpuMs, type ServerProcess } from './processes.js'
import { type RelayChain, startRelayServer } from './relayPlatform.js'

/** Servers that share a database. */
export interface Fleet {
  readonly servers: readonly Target[]
  /** CPU so far, in milliseconds. */
  cpu(): Promise<{ servers: number; database: number }>
  /** Resolves when the servers hold one account each. A fleet without accounts of its own has one that all share. */
  untilShared(): Promise<void>
  /** SIGKILL. */
  kill(index: number): Promise<void>
  restart(index: number): Promise<void>
  stop(): Promise<void>
}

const POLL_MS = 25
const PATIENCE_MS = 60_000
const holdersSchema = z.array(z.object({ accounts: z.coerce.number(), holders: z.coerce.number() })).length(1)

/** @param startOne starts a server on that database, with a directory of its own */
export async function startFleet(
  count: number,
  startOne: (databaseUrl: string, directory: string) => Promise<ServerProcess>,
): Promise<Fleet> {
  const database = await startPostgres(BENCH_DIRECTORY)
  const databaseUrl = (await database.createDatabase()).reveal()
  const directory = join(BENCH_DIRECTORY, `servers-${Date.now()}`)
  const running: ServerProcess[] = []
  const kill = async (index: number) => {
    const child = running[index]?.child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const fleet: Fleet = {
    get servers() {
      return running
    },
    cpu: async () => ({
      servers: await cpuMs(...running.map(({ pid }) => pid)),
      database: await cpuMs(...(await processesOf(database))),
    }),
    async untilShared() {
      const question = `SELECT count(*) AS accounts, count(DISTINCT holder) AS holders FROM leases
        WHERE name LIKE 'relayer:%' AND expires_at > clock_timestamp()`
      for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(POLL_MS)) {
        const [found] = holdersSchema.parse(await ask(databaseUrl, question))
        if (found === undefined) continue
        const { accounts, holders } = found
        if (accounts === 1 || (accounts === running.length && holders === accounts)) return
      }
      throw new Error('the servers do not share the accounts')
    },
    kill,
    async restart(index) {
      const own = join(directory, `${index}`)
      await mkdir(own, { recursive: true })
      running[index] = await startOne(databaseUrl, own)
    },
    async stop() {
      await Promise.all(running.map((_, index) => kill(index)))
      await database.remove()
      await rm(directory, { recursive: true, force: true })
    },
  }
  try {
    for (let index = 0; index < count; index++) await fleet.restart(index)
    if (count > 1) await fleet.untilShared()
    return fleet
  } catch (error) {
    await fleet.stop()
    throw error
  }
}

export interface RelayFleetOptions {
  /** One for each server. */
  readonly accounts: RelayChain['relayers']
  readonly callers: number
  readonly leaseTtlMs: number
  readonly nodeOptions: readonly string[]
}

export function startRelayFleet(
  chain: RelayChain,
  { accounts, callers, leaseTtlMs, nodeOptions }: RelayFleetOptions,
): Promise<Fleet> {
  return startFleet(accounts.length, (databaseUrl, directory) => {
    const settings = {
      DATABASE_URL: databaseUrl,
      RELAYER_PRIVATE_KEY: '',
      RELAYER_PRIVATE_KEYS: accounts.map(({ privateKey }) => privateKey).join(','),
      LEASE_TTL: `${leaseTtlMs}ms`,
    }
    return startRelayServer(chain, { directory, callers, nodeOptions, settings })
  })
}

/** PostgreSQL's first process, and those of its connections. */
async function processesOf({ data }: Postgres): Promise<number[]> {
  const [first] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
  const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8')
  return [first, ...children.trim().split(' ')].map(Number)
}
