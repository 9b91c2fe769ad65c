import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabases, openPostgres } from '../../src/server/store/postgres/postgresEngine.js'
import { Secret } from '../../src/service/secret.js'
import { eventually } from '../support/eventually.js'
import { type Postgres, servePostgres, startPostgres } from '../support/postgres.js'
import { direct, startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { ask, installAudit } from './audit.js'

const DATABASE = 'backend_0'

export type ClusterDatabase = Awaited<ReturnType<typeof startClusterDatabase>>

/**
 * A primary and its synchronous standby. Their faults come one after the other.
 * @param isShipped without a proxy between them, and without a history of all rows
 */
export async function startClusterDatabase(isShipped: boolean) {
  let primary = await startPostgres()
  const { host } = primary
  await primary.createDatabase()
  let standbys = 0
  const urlAt = ({ user, password, port }: Postgres) =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${DATABASE}`
  const url = () => urlAt(primary)
  const engine = await openPostgres(createDatabases(new Secret(url())))
  await engine.stop()
  if (!isShipped) await installAudit(url())
  // A standby looks for its primary again at once.
  await alter('wal_retrieve_retry_interval', "'200ms'")
  await alter('max_wal_size', "'96MB'")
  /** Between the primary and its standby. */
  let replication: TcpProxy | undefined
  let standby = await addStandby()
  let last: Promise<void> = Promise.resolve()
  const troubles: { from: number; to: number }[] = []

  async function addStandby(): Promise<Postgres> {
    const name = `standby-${++standbys}`
    await replication?.stop()
    replication = isShipped ? direct(primary.port) : await startTcpProxy(primary.port)
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

  return {
    /** The current primary's URL, past every proxy. */
    url,
    port: () => primary.port,
    /** Ends without a checkpoint, and is back after a while. */
    crash: (forMs: number) =>
      inTurn(async () => {
        await primary.kill()
        await sleep(forMs)
        await primary.start()
      }),
    readOnly: (forMs: number) =>
      inTurn(async () => {
        await alter('default_transaction_read_only', 'on')
        await sleep(forMs)
        await alter('default_transaction_read_only', 'off')
      }),
    /** @param onPromoted the standby has taken the primary's place */
    failOver: (onPromoted: () => void) =>
      inTurn(async () => {
        const former = primary
        await former.kill()
        await standby.query('SELECT pg_promote()')
        primary = standby
        onPromoted()
        await rm(former.data, { recursive: true })
        standby = await addStandby()
      }),
    /** Resolves when all that was begun has ended, and both are up. */
    calm: () => last,
    /** Whether anything has been wrong with it since, of `performance.now()`. */
    wasTroubled: (from: number) => troubles.some(({ to }) => to >= from),
    async remove() {
      await last.catch(() => undefined)
      await standby.kill()
      await replication?.stop()
      await primary.remove()
    },
  }
}
