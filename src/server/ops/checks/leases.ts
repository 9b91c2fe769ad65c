import type { Leases } from '../../store/engine.js'
import { StorageError } from '../../store/storageError.js'
import type { Look } from '../check.js'

/**
 * Whether a living server holds each of the leases, on this server's database. One is free for seconds while it changes
 * hands: its server has died, and another has not taken it yet.
 */
export function leasesLook(leases: Pick<Leases, 'list'>, names: readonly string[]): Look {
  return async () => {
    try {
      const held = (await leases.list()).filter(({ expiresInMs }) => expiresInMs > 0)
      return names.every((name) => held.some(({ lease }) => lease === name)) ? null : 'lease-not-held'
    } catch (error) {
      // The check of the store has the reason.
      if (error instanceof StorageError) return null
      throw error
    }
  }
}
