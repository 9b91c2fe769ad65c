import { randomUUID } from 'node:crypto'
import { access, constants, open, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { type Finding, fault, notice, ok, unchecked } from '../../protocol/finding.js'
import type { Config } from '../../server/config/config.js'
import { StorageError } from '../../server/store/engine.js'
import { createDatabase, readSettings } from '../../server/store/postgres/database.js'
import { differenceOf, readPlatform } from '../../server/store/postgres/platform.js'
import { listLeases } from '../../server/store/postgres/postgresEngine.js'
import { NEWEST_SCHEMA, readSchema } from '../../server/store/postgres/schema.js'
import type { Secret } from '../../service/secret.js'

/** Whether the server could use its database, or the directory of its records. */
export async function checkStores(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'chain'>,
): Promise<Finding[]> {
  if (config.databaseUrl === undefined) return [await checkDataDir(config.dataDir)]
  try {
    const found = await inspectPostgres(config.databaseUrl)
    return [checkDatabase(found, config.chain), checkStandby(found), checkLeases(found)]
  } catch (error) {
    if (!(error instanceof StorageError || error instanceof TypeError)) throw error
    const reason = (error instanceof StorageError ? error.code : undefined) ?? 'not a URL of PostgreSQL'
    return [
      fault('database', `DATABASE_URL cannot be read (${reason}): check host, user, password and TLS`),
      ...['database-standby', 'leases'].map((check) => unchecked(check, 'no database to ask')),
    ]
  }
}

type Inspection = Awaited<ReturnType<typeof inspectPostgres>>

const TIMEOUT_MS = 3_000

const accessSchema = z.tuple([z.object({ read_only: z.boolean() })])

/** Reads a database, and changes nothing in it. @throws StorageError; TypeError for a URL that cannot be parsed */
export async function inspectPostgres(url: Secret) {
  const timeouts = { connectTimeoutMs: TIMEOUT_MS, queryTimeoutMs: TIMEOUT_MS }
  const database = createDatabase({ url, maxConnections: 1, ...timeouts })
  try {
    const [{ read_only: isReadOnly }] = accessSchema.parse(
      await database.query(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only",
      ),
    )
    // `readSettings` describes both.
    const { strictIsolation, ...durability } = await readSettings(database)
    const schema = await readSchema(database)
    const isMade = schema > 0
    return {
      durability,
      strictIsolation,
      /** A standby, or a database whose transactions are read-only: it accepts no write. */
      isReadOnly,
      /** Zero where no server has made its tables yet. */
      schema,
      platform: isMade ? await readPlatform(database) : undefined,
      leases: isMade ? await listLeases(database) : [],
    }
  } finally {
    await database.end()
  }
}

function checkDatabase(found: Inspection, chain: Config['chain']): Finding {
  const { durability, strictIsolation, isReadOnly, schema, platform } = found
  const bad = (text: string) => fault('database', `DATABASE_URL: ${text}`)
  if (durability.fault !== null)
    return bad(`${durability.fault}, so a crash could lose accepted orders: the server refuses to start`)
  if (strictIsolation !== null)
    return bad(
      `${strictIsolation}, so writes of several servers would fail at once: the server refuses to start`,
    )
  if (isReadOnly) return bad('it is read-only: is it a standby that was not promoted?')
  if (schema > NEWEST_SCHEMA)
    return bad(`a later version of the server wrote it (schema ${schema}, known up to ${NEWEST_SCHEMA})`)
  const own = { chainId: String(chain.chainId), contracts: { ...chain.contracts } }
  const difference = platform && differenceOf(platform, own)
  if (difference !== undefined) return bad(`it belongs to another deployment: ${difference}`)
  return ok(
    'database',
    schema === 0
      ? 'PostgreSQL answers; the server will create its tables'
      : 'PostgreSQL answers, and holds this deployment',
  )
}

function checkStandby({ durability: { waitsForStandby, standbys } }: Inspection): Finding {
  const check = 'database-standby'
  if (!waitsForStandby)
    return notice(
      check,
      'no commit waits for a standby: a failover may lose accepted orders (docs/scaling.md)',
    )
  if (standbys === undefined)
    return unchecked(check, 'the user in DATABASE_URL may not see the standbys: grant it pg_monitor')
  return standbys > 0
    ? ok(check, `each commit waits for a standby, and ${standbys} of them are connected`)
    : fault(check, 'each commit waits for a standby, and none is connected: the server cannot store orders')
}

/** An expired lease has no live holder; a server that stops releases its leases. */
function checkLeases(found: Inspection): Finding {
  const { leases } = found
  const expired = leases.filter(({ expiresInMs }) => expiresInMs <= 0).map(({ lease }) => lease)
  const holders = new Set(leases.filter(({ expiresInMs }) => expiresInMs > 0).map(({ holder }) => holder))
  if (leases.length === 0) return unchecked('leases', 'no server runs on this database')
  if (expired.length > 0)
    return notice('leases', `${expired.join(', ')}: its server has died, and no other server has taken over`)
  const names = leases.map(({ lease }) => lease).join(', ')
  return ok('leases', `${names}: held by ${holders.size} running server${holders.size === 1 ? '' : 's'}`)
}

/**
 * Whether the server could write there. Writes and removes a small file; if the directory does not exist yet, checks
 * the rights on its parent.
 * @param directory absolute
 */
async function checkDataDir(directory: string): Promise<Finding> {
  try {
    const exists = await isDirectory(directory)
    if (exists) await writeAndRemove(join(directory, `doctor-${randomUUID()}`))
    else await assertCanBeMade(directory)
    return ok('data-dir', exists ? 'DATA_DIR is writable' : 'the server will create DATA_DIR')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return fault(
      'data-dir',
      `DATA_DIR cannot be written (${reason}): give the server's user the rights, or name another directory`,
    )
  }
}

/** False where there is nothing. @throws the system's error; one with the code ENOTDIR for anything else than a directory */
async function isDirectory(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true
    throw Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

async function writeAndRemove(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('doctor')
    await file.sync()
  } finally {
    await file.close()
    await unlink(path)
  }
}

async function assertCanBeMade(directory: string): Promise<void> {
  const parent = dirname(directory)
  if (await isDirectory(parent)) await access(parent, constants.W_OK | constants.X_OK)
  else await assertCanBeMade(parent)
}
