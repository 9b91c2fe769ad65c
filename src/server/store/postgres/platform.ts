import * as z from 'zod'
import { type Engine, storageError, UnusableDatabaseError } from '../engine.js'
import type { Database } from './database.js'

/** The chain and contracts that all servers on one database have in common. */
const platformSchema = z.strictObject({
  chainId: z.string(),
  /** Addresses by the names of the contracts. */
  contracts: z.record(z.string(), z.string()),
})
type StoredPlatform = z.infer<typeof platformSchema>

const PLATFORM_ID = 'platform'

/**
 * The first server on a database records its platform there; every later one must have the same.
 * @throws UnusableDatabaseError, StorageError
 */
export async function checkPlatform(engine: Engine, platform: StoredPlatform): Promise<void> {
  const doc = JSON.stringify(platform)
  const row = { id: PLATFORM_ID, version: 1, isOpen: false, uniqueKey: null, doc }
  const result = await engine.transact([{ kind: 'put', table: 'state', row }])
  if (result === 'written') return
  const stored = parsePlatform((await engine.get('state', PLATFORM_ID))?.doc ?? '')
  const difference = differenceOf(stored, platform)
  if (difference === undefined) return
  throw new UnusableDatabaseError(
    `its database belongs to another deployment: ${difference}. Give each deployment a database of its own.`,
  )
}

/** @throws StorageError */
function parsePlatform(doc: string): StoredPlatform {
  try {
    return platformSchema.parse(JSON.parse(doc))
  } catch (error) {
    throw storageError('UNREADABLE_RECORD', error)
  }
}

export function differenceOf(stored: StoredPlatform, own: StoredPlatform): string | undefined {
  if (stored.chainId !== own.chainId)
    return `its chain is ${stored.chainId}, and this server's is ${own.chainId}`
  const names = new Set([...Object.keys(stored.contracts), ...Object.keys(own.contracts)])
  for (const name of [...names].sort()) {
    const [theirs, ours] = [stored.contracts[name], own.contracts[name]].map((address) =>
      address?.toLowerCase(),
    )
    if (theirs !== ours) return `its ${name} is ${theirs ?? 'none'}, and this server's is ${ours ?? 'none'}`
  }
  return undefined
}

/** Undefined where no server has recorded its deployment yet. @throws StorageError */
export async function readPlatform(database: Database): Promise<StoredPlatform | undefined> {
  const rows = await database.query('SELECT doc FROM state WHERE id = $1', [PLATFORM_ID])
  const [row] = z.array(z.object({ doc: z.string() })).parse(rows)
  return row && parsePlatform(row.doc)
}
