import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { Secret } from '../../../src/service/secret.js'
import { eventually } from '../../support/eventually.js'
import { type Postgres, servePostgres, startPostgres } from '../../support/postgres.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { fillUp } from '../orders/fullDisk.js'
import { type Audit, ask, installAudit, readAudit } from './audit.js'

/** A primary and its synchronous standby. Their faults come one after the other. */
export interface ClusterDatabase {
  /** The current primary's URL, past every proxy. */
  url(): string
  port(): number
  /** Ends without a checkpoint, and is back after a while. */
  crash(forMs: number): Promise<void>
  readOnly(forMs: number): Promise<void>
  /** Has no room for a while. Where none can be taken away from it, it takes no writes instead. */
  full(forMs: number): Promise<void>
  /** The standby takes the primary's place, and another one its own. @param onPromoted resolves before the next fault */
  failOver(onPromoted: () => void): Promise<void>
  /** The same with an asynchronous standby, which has heard nothing for a while: later commits are lost. */
  failOverLate(forMs: number, onPromoted: () => void): Promise<void>
  /** The audits of the databases that such failovers have replaced. */
  readonly lost: readonly Audit[]
  /** Resolves when all that was begun has ended, and both are up. */
  calm(): Promise<void>
  /** Whether anything was wrong with it in this time, of `performance.now()`. */
  wasTroubled(from: number, to: number): boolean
  remove(): Promise<void>
}

const DATABASE = 'backend_0'
const SIZE = '1g'
/** A transaction that was refused for want of room leaves data behind, which takes room itself. */
const RECOVERY_MS = 30_000
const run = promisify(execFile)

/** @param mayMount whether its files may be on a file system of their own, which takes the right to mount one */
export async function startClusterDatabase(mayMount: boolean): Promise<ClusterDatabase> {
  const mounted = mayMount ? await mount() : undefined
  let primary = await startPostgres(mounted)
  const { host } = primary
  await primary.createDatabase()
  let standbys = 0
  const urlAt = ({ user, password, port }: Postgres) =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${DATABASE}`
  const url = () => urlAt(primary)
  const engine = await openPostgres(createDatabases(new Secret(url())))
  await engine.stop()
  await installAudit(url())
  // A standby looks for its primary again at once.
  await alter('wal_retrieve_retry_interval', "'200ms'")
  await alter('max_wal_size', "'96MB'")
  /** Between the primary and its standby. */
  let replication: TcpProxy | undefined
  let standby = await addStandby()
  const lost: Audit[] = []
  let last: Promise<void> = Promise.resolve()
  const troubles: { from: number; to: number }[] = []

  async function addStandby(): Promise<Postgres> {
    const name = `standby-${++standbys}`
    await replication?.stop()
    replication = await startTcpProxy(primary.port)
    const from = ['-h', '127.0.0.1', '-p', String(replication.port), '-U', primary.user]
    await host.run('pg_basebackup', ['-D', join(host.directory, name), '-R', '-c', 'fast', ...from])
    const added = await servePostgres(host, name)
    await alter('synchronous_standby_names', "'*'")
    // Until then, commits are answered before the standby has them.
    await eventually('the standby is synchronous', async () => {
      const found = await ask(url(), "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")
      return found.length > 0
    })
    return added
  }

  async function alter(setting: string, value: string): Promise<void> {
    await ask(url(), `ALTER SYSTEM SET ${setting} = ${value}`)
    await ask(url(), 'SELECT pg_reload_conf()')
  }

  /** One trouble after the other. */
  function inTurn(trouble: () => Promise<void>): Promise<void> {
    last = last.then(async () => {
      const noted = { from: performance.now(), to: Number.POSITIVE_INFINITY }
      troubles.push(noted)
      try {
        await trouble()
      } finally {
        noted.to = performance.now()
      }
    })
    return last
  }

  /** @returns the former primary, which has ended */
  async function promote(onPromoted: () => void): Promise<Postgres> {
    await primary.kill()
    await standby.query('SELECT pg_promote()')
    const former = primary
    primary = standby
    onPromoted()
    return former
  }

  /** @param former has ended */
  async function replace(former: Postgres): Promise<void> {
    await rm(former.data, { recursive: true })
    standby = await addStandby()
  }

  async function takeNoWrites(forMs: number): Promise<void> {
    await alter('default_transaction_read_only', 'on')
    await sleep(forMs)
    await alter('default_transaction_read_only', 'off')
  }

  /** Without room, PostgreSQL may end, and its start may fail as long as there is none. */
  async function beFull(small: string, forMs: number): Promise<void> {
    const ballast = join(small, 'ballast')
    await fillUp(ballast)
    await sleep(forMs)
    await rm(ballast)
    const giveUpAt = performance.now() + RECOVERY_MS
    for (const server of [primary, standby]) {
      while (!(await isUp(server)) && performance.now() < giveUpAt) {
        await sleep(500)
        if (!server.isRunning()) await server.start().catch(() => undefined)
      }
    }
  }

  return {
    url,
    port: () => primary.port,
    crash: (forMs) =>
      inTurn(async () => {
        await primary.kill()
        await sleep(forMs)
        await primary.start()
      }),
    readOnly: (forMs) => inTurn(() => takeNoWrites(forMs)),
    full: (forMs) => inTurn(() => (mounted === undefined ? takeNoWrites(forMs) : beFull(mounted, forMs))),
    failOver: (onPromoted) => inTurn(async () => replace(await promote(onPromoted))),
    failOverLate: (forMs, onPromoted) =>
      inTurn(async () => {
        await alter('synchronous_standby_names', "''")
        replication?.set('hang')
        await sleep(forMs)
        const former = await promote(onPromoted)
        // The servers' connections lead elsewhere by now.
        await former.start()
        lost.push(await readAudit(urlAt(former)))
        await former.kill()
        await replace(former)
      }),
    lost,
    calm: () => last,
    wasTroubled: (from, to) => troubles.some((trouble) => trouble.from <= to && trouble.to >= from),
    async remove() {
      await last.catch(() => undefined)
      await standby.kill()
      await replication?.stop()
      await primary.remove()
      if (mounted === undefined) return
      await run('umount', [mounted])
      await rmdir(mounted)
    },
  }
}

async function isUp(server: Postgres): Promise<boolean> {
  return server.query('SELECT 1').then(
    () => true,
    () => false,
  )
}

/** A small file system that PostgreSQL's own user may enter; undefined where none may be mounted. */
async function mount(): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'backend-small-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', directory])
    await chmod(directory, 0o755)
    return directory
  } catch {
    await rmdir(directory)
    return undefined
  }
}
