import type { BlockTag } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { Contracts } from '../../chain/contracts.js'
import { ZERO_ADDRESS } from '../../protocol/address.js'
import type { Hex } from '../../protocol/hex.js'

/** Institutions that are known to be registered. */
const CAPACITY = 10_000

/**
 * Makes a read of an institution cost one call where there is none. An institution stays registered, so that only its first
 * read asks before the others.
 * @returns null when the institution is not registered
 */
export function ifRegistered<T>(
  registry: Pick<Contracts['registry'], 'adminOf'>,
  read: (orgId: Hex, block: BlockTag) => Promise<T | null>,
): (orgId: Hex, block: BlockTag) => Promise<T | null> {
  const known = new LRUCache<Hex, true>({ max: CAPACITY })
  return async (orgId, block) => {
    if (!known.has(orgId)) {
      if ((await registry.adminOf(orgId, block)) === ZERO_ADDRESS) return null
      known.set(orgId, true)
    }
    return read(orgId, block)
  }
}
