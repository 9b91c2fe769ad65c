import { z } from 'zod'
import type { Secret } from '../../../service/secret.js'
import type { Durability, LeaseState } from '../engine.js'
import { PLATFORM_ID, parsePlatform, type StoredPlatform } from '../platform.js'
import { createDatabase, readDurability, readStrictIsolation } from './database.js'
import { listLeases } from './postgresEngine.js'
import { NEWEST_SCHEMA, readSchema } from './schema.js'

/** A database as it stands. */
export interface Inspection {
  readonly durability: Durability
  /** See `readStrictIsolation`. */
  readonly strictIsolation: string | null
  /** A standby, or a database whose transactions are read-only: it takes no write. */
  readonly isReadOnly: boolean
  /** Zero where no server has made its tables yet. */
  readonly schema: number
  readonly newestKnownSchema: number
  /** Undefined where no server has recorded its deployment yet. */
  readonly platform: StoredPlatform | undefined
  readonly leases: readonly LeaseState[]
}

const TIMEOUT_MS = 3_000

const accessSchema = z.tuple([z.object({ read_only: z.boolean() })])

/** Reads a database, and changes nothing in it. @throws StorageError; TypeError for a URL that cannot be parsed */
export async function inspectPostgres(url: Secret): Promise<Inspection> {
  const database = createDatabase({
    url,
    maxConnections: 1,
    connectTimeoutMs: TIMEOUT_MS,
    queryTimeoutMs: TIMEOUT_MS,
  })
  try {
    const [{ read_only: isReadOnly }] = accessSchema.parse(
      await database.query(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only",
      ),
    )
    const durability = await readDurability(database)
    const strictIsolation = await readStrictIsolation(database)
    const schema = await readSchema(database)
    const isMade = schema > 0
    return {
      durability,
      strictIsolation,
      isReadOnly,
      schema,
      newestKnownSchema: NEWEST_SCHEMA,
      platform: isMade ? await readPlatform() : undefined,
      leases: isMade ? await listLeases(database) : [],
    }
  } finally {
    await database.end()
  }

  async function readPlatform(): Promise<StoredPlatform | undefined> {
    const rows = await database.query('SELECT doc FROM state WHERE id = $1', [PLATFORM_ID])
    const [row] = z.array(z.object({ doc: z.string() })).parse(rows)
    return row && parsePlatform(row.doc)
  }
}
