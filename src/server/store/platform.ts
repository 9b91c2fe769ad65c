import { z } from 'zod'
import { type Engine, storageError, UnusableDatabaseError } from './engine.js'

/** The chain and contracts that all servers on one database have in common. */
const platformSchema = z.strictObject({
  chainId: z.string(),
  /** Addresses by the names of the contracts. */
  contracts: z.record(z.string(), z.string()),
})
export type StoredPlatform = z.infer<typeof platformSchema>

export const PLATFORM_ID = 'platform'

/**
 * The first server on a database records its platform there; every later one must have the same.
 * @throws UnusableDatabaseError, StorageError
 */
export async function checkPlatform(engine: Engine, platform: StoredPlatform): Promise<void> {
  const doc = JSON.stringify(platform)
  const result = await engine.put('state', {
    id: PLATFORM_ID,
    version: 1,
    isOpen: false,
    uniqueKey: null,
    doc,
  })
  if (result === 'written') return
  const stored = parsePlatform((await engine.get('state', PLATFORM_ID))?.doc ?? '')
  const difference = differenceOf(stored, platform)
  if (difference === undefined) return
  throw new UnusableDatabaseError(
    `its database belongs to another deployment: ${difference}. Give each deployment a database of its own.`,
  )
}

/** @throws StorageError */
export function parsePlatform(doc: string): StoredPlatform {
  try {
    return platformSchema.parse(JSON.parse(doc))
  } catch (error) {
    throw storageError('UNREADABLE_RECORD', error)
  }
}

/** How a stored deployment differs from this server's own. */
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
