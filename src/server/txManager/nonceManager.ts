import { createKeyedLock } from '../../service/keyedLock.js'
import { pause } from '../../service/waiting.js'
import type { AccountView } from './account.js'

/** Assigns the account's nonces. A nonce is in use from `acquire` or `reserve` until `consume` or `recycle`. */
export type NonceManager = ReturnType<typeof createNonceManager>

/** Pause before a node that is behind is asked again. */
const ASK_AGAIN_MS = 200

/**
 * Asks the chain whenever no nonce is in use: neither another user of the key nor a reset of the chain makes the count drift. In
 * between it counts locally, because no node knows of a transaction that was signed a moment ago.
 */
export function createNonceManager(
  account: AccountView,
  stopping: AbortSignal,
  onUnknown: (nonce: number) => void,
) {
  const lock = createKeyedLock()
  /** Users of each nonce. After a crash there may be two of one nonce; one of them loses it. */
  const used = new Map<number, number>()
  let first: number | undefined
  // A node counts its pending transactions too, stuck ones included: no transaction above those is ever mined.
  let tag: 'pending' | 'latest' = 'pending'

  /** A node may be behind for a minute; a stop does not wait for it. */
  async function ask(): Promise<number | undefined> {
    while (!stopping.aborted) {
      const { history, pending, count } = await account.poll()
      if (history === 'kept') observeCount(count)
      if (history !== 'behind') return tag === 'pending' ? pending : count
      await pause(ASK_AGAIN_MS, stopping)
    }
    return undefined
  }

  function observeCount(count: number): void {
    if (first === undefined) return
    for (let nonce = first; nonce < count; nonce++) if (!used.has(nonce)) onUnknown(nonce)
    first = Math.max(first, count)
  }

  function reserve(nonce: number): void {
    used.set(nonce, (used.get(nonce) ?? 0) + 1)
  }

  function recycle(nonce: number): void {
    const others = (used.get(nonce) ?? 1) - 1
    if (others > 0) used.set(nonce, others)
    else used.delete(nonce)
  }

  return {
    /**
     * Assigns the lowest nonce that is not in use. Returns undefined when it stops before one is known.
     *
     * @throws ChainUnavailableError, ChainAnswerError
     */
    acquire: () =>
      lock.run('nonce', async () => {
        if (first === undefined || used.size === 0) first = await ask()
        if (first === undefined) return undefined
        tag = 'pending'
        let nonce = first
        while (used.has(nonce)) nonce++
        reserve(nonce)
        return nonce
      }),
    /** Marks a nonce as in use that an earlier process assigned, or that a no-op transaction is to use. */
    reserve,
    /** Frees a nonce under which no transaction was signed, or none can be mined. The next `acquire` assigns it again. */
    recycle,
    /** Frees a nonce under which a transaction is mined. */
    consume(nonce: number) {
      recycle(nonce)
      if (first !== undefined) first = Math.max(first, nonce + 1)
    },
    /** The first `most` unused nonces from `count` on that lie below a used one: the transactions above wait for them. */
    gaps(count: number, most: number): number[] {
      const highest = Math.max(...used.keys())
      const gaps: number[] = []
      for (let nonce = count; nonce < highest && gaps.length < most; nonce++) {
        if (!used.has(nonce)) gaps.push(nonce)
      }
      return gaps
    },
    /** The chain has used every nonce below `count`. Calls `onUnknown` for each one that this process did not assign. */
    observeCount,
    /** Drops the local count and asks the chain again. With `latest` it ignores the node's pool, which cannot be right then. */
    resync(newTag: 'pending' | 'latest') {
      first = undefined
      tag = newTag
    },
  }
}
