import pg from 'pg'
import * as z from 'zod'
import type { Secret } from '../../../service/secret.js'
import { withTimeout } from '../../../service/waiting.js'
import {
  type Durability,
  StatementError,
  StorageError,
  storageError,
  UnusableDatabaseError,
} from '../engine.js'

/**
 * Runs single statements, each a transaction of its own. It keeps no state in a session, so PgBouncer may stand in between
 * and hand each statement to another connection.
 */
export type Database = ReturnType<typeof createDatabase>

/**
 * The least time limit for establishing a connection, even if the statements that wait for it give up. Otherwise a busy
 * machine would never complete one.
 */
const CONNECTING_MS = 3_000

/** Connects when a statement needs it. @throws TypeError for a URL that cannot be parsed; it does not name the URL */
export function createDatabase(options: {
  /** The form of `pg`, TLS included: https://node-postgres.com/features/connecting#connection-uri */
  readonly url: Secret
  readonly maxConnections: number
  /** How long a statement waits for a connection, and then for its answer. */
  readonly connectTimeoutMs: number
  readonly queryTimeoutMs: number
}) {
  const { url, maxConnections, connectTimeoutMs, queryTimeoutMs } = options
  const madeAt = new WeakMap<pg.PoolClient, number>()
  /** Connections from before are as dead as the one that gave no answer then, and would cost a time-out each. */
  let deadUntil = 0

  const pool = new pg.Pool({
    connectionString: url.reveal(),
    max: maxConnections,
    connectionTimeoutMillis: Math.max(connectTimeoutMs, CONNECTING_MS),
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  })
  // An idle connection has ended. The next statement opens another one, or fails and reports why.
  pool.on('error', ignore)
  pool.on('connect', (client) => {
    // The database may end a connection in the answer that completes it. A statement reports that as well.
    client.on('error', ignore)
    madeAt.set(client, performance.now())
  })

  /** @throws StorageError */
  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      const connecting = pool.connect()
      const client = await withTimeout(connecting, connectTimeoutMs).catch((error: unknown) => {
        throw failureOf(error)
      })
      if (client === undefined) {
        // No caller waits for it any more.
        connecting.then((late) => late.release(), ignore)
        throw storageError(NO_CONNECTION)
      }
      if ((madeAt.get(client) ?? 0) >= deadUntil) return client
      client.release(true)
    }
  }

  return {
    /** Resolves with the rows. Rejects with StorageError: a StatementError where another statement may succeed. */
    async query(text: string, values: readonly unknown[] = [], timeoutMs?: number): Promise<unknown[]> {
      const client = await connect()
      const sentAt = performance.now()
      try {
        const statement = { text, values: [...values], query_timeout: timeoutMs }
        const { rows } = await client.query<Record<string, unknown>>(statement)
        client.release()
        return rows
      } catch (error) {
        // A failed statement costs its connection too, because pg does not know which connections still work.
        client.release(true)
        const failure = failureOf(error)
        if (IS_LOST.has(failure.code)) deadUntil = Math.max(deadUntil, sentAt)
        throw failure
      }
    },
    end: () => pool.end(),
  }
}

const ignore = () => undefined

const NO_ANSWER = 'ETIMEDOUT'
const NO_CONNECTION = 'CONNECT_TIMEOUT'
/** A former primary, which accepts no writes any more. */
const READ_ONLY = '25006'
const IS_LOST = new Set<string | undefined>([NO_ANSWER, READ_ONLY])
/** Its values, its constraints, its length, or a deadlock: the classes of PostgreSQL's codes. */
const OF_ONE_STATEMENT = new Set<string | undefined>(['22', '23', '40', '54'])

function failureOf(error: unknown): StorageError {
  if (error instanceof pg.DatabaseError)
    return OF_ONE_STATEMENT.has(error.code?.slice(0, 2)) ? new StatementError(error) : new StorageError(error)
  if (error instanceof Error && 'code' in error) return new StorageError(error)
  // pg gives its own failures no code: no answer, no connection, and a connection that ended during the statement.
  const message = error instanceof Error ? error.message : ''
  if (message === 'Query read timeout') return storageError(NO_ANSWER, error)
  return storageError(message.includes('timeout') ? NO_CONNECTION : 'ECONNRESET', error)
}

/** Source: https://www.postgresql.org/docs/current/runtime-config-wal.html and `pg_stat_replication`. */
const READ_SETTINGS = `SELECT current_setting('fsync') AS fsync,
  current_setting('default_transaction_isolation') AS isolation,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS standby_names,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))::integer AS standbys,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL)::integer AS hidden`

const settingsSchema = z.tuple([
  z.object({
    fsync: z.string(),
    isolation: z.string(),
    synchronous_commit: z.string(),
    standby_names: z.string(),
    standbys: z.int(),
    hidden: z.int(),
  }),
])

/** A commit with these waits for the standby as well as for the own disk. */
const WAITING = ['on', 'remote_write', 'remote_apply']

/** @throws UnusableDatabaseError, StorageError */
export async function assertSuitable(database: Database): Promise<void> {
  const { fault, strictIsolation } = await readSettings(database)
  if (fault !== null) refuse(fault, 'a crash could lose accepted orders and reuse their nonces')
  if (strictIsolation !== null) refuse(strictIsolation, 'writes of several servers would fail at once')
}

function refuse(setting: string, consequence: string): never {
  throw new UnusableDatabaseError(
    `its database has ${setting}, so ${consequence}. Change the setting, and start again.`,
  )
}

/**
 * @returns `strictIsolation` is the setting with which concurrent statements refuse each other, in place of waiting and finding what the
 * other has written
 * @throws StorageError
 */
export async function readSettings(
  database: Database,
): Promise<Durability & { readonly strictIsolation: string | null }> {
  const [settings] = settingsSchema.parse(await database.query(READ_SETTINGS))
  const { fsync, isolation, synchronous_commit: commit, standby_names: names, standbys, hidden } = settings
  return {
    fault: fsync === 'off' ? 'fsync = off' : commit === 'off' ? 'synchronous_commit = off' : null,
    waitsForStandby: names.trim() !== '' && WAITING.includes(commit),
    standbys: hidden > 0 ? undefined : standbys,
    strictIsolation: isolation.startsWith('read ') ? null : `default_transaction_isolation = ${isolation}`,
  }
}
