import { setTimeout as sleep } from 'node:timers/promises'
import { createKeyedLock } from '../../service/keyedLock.js'
import type { AccountView } from './account.js'

/** Which nonces of the account are in use, and which comes next. A nonce is held from `take` to its end. */
export interface Nonces {
  /**
   * The lowest nonce that nobody holds, held from now on; undefined when it stops before one is known.
   *
   * @throws ChainUnavailableError, ChainAnswerError
   */
  take(): Promise<number | undefined>
  /** Holds a nonce that an earlier process gave out, or that is to be filled. */
  hold(nonce: number): void
  /** Nothing was signed under it, or nothing of that can be mined: whoever comes next takes it. */
  release(nonce: number): void
  /** Something is mined under it. */
  done(nonce: number): void
  /** The lowest `most` from `count` on that nobody holds, below one that is held: what is above waits for them. */
  holes(count: number, most: number): number[]
  /** The chain has used every nonce below `count`. Calls `onUnknown` for each one that this process did not assign. */
  saw(count: number): void
  /** What was counted here is wrong: the chain is asked again, without its pool when that can't be right either. */
  distrust(tag: 'pending' | 'latest'): void
}

/** A node that trails is asked again after this long. */
const ASK_AGAIN_MS = 200

/**
 * The chain is asked whenever nothing is held, so that a use of the key elsewhere or a chain that was reset can't
 * make the count drift; in between it is counted here, as no node knows of what was signed a moment ago.
 */
export function createNonces(
  account: AccountView,
  stopping: AbortSignal,
  onUnknown: (nonce: number) => void,
): Nonces {
  const lock = createKeyedLock()
  /** How many hold it: after a crash it may be two, one of which will find out. */
  const held = new Map<number, number>()
  let first: number | undefined
  // A node counts its pending transactions too, also those that are stuck: behind them nothing is ever mined.
  let tag: 'pending' | 'latest' = 'pending'

  /** A node may trail for a minute: nobody who stops waits for that. */
  async function ask(): Promise<number | undefined> {
    while (!stopping.aborted) {
      const { history, pending, count } = await account.look()
      if (history === 'kept') saw(count)
      if (history !== 'behind') return tag === 'pending' ? pending : count
      await sleep(ASK_AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
    return undefined
  }

  function saw(count: number): void {
    if (first === undefined) return
    for (let nonce = first; nonce < count; nonce++) if (!held.has(nonce)) onUnknown(nonce)
    first = Math.max(first, count)
  }

  function hold(nonce: number): void {
    held.set(nonce, (held.get(nonce) ?? 0) + 1)
  }

  function release(nonce: number): void {
    const others = (held.get(nonce) ?? 1) - 1
    if (others > 0) held.set(nonce, others)
    else held.delete(nonce)
  }

  return {
    take: () =>
      lock.run('nonce', async () => {
        if (first === undefined || held.size === 0) first = await ask()
        if (first === undefined) return undefined
        tag = 'pending'
        let nonce = first
        while (held.has(nonce)) nonce++
        hold(nonce)
        return nonce
      }),
    hold,
    release,
    done(nonce) {
      release(nonce)
      if (first !== undefined) first = Math.max(first, nonce + 1)
    },
    holes(count, most) {
      const highest = Math.max(...held.keys())
      const holes: number[] = []
      for (let nonce = count; nonce < highest && holes.length < most; nonce++) {
        if (!held.has(nonce)) holes.push(nonce)
      }
      return holes
    },
    saw,
    distrust(newTag) {
      first = undefined
      tag = newTag
    },
  }
}
