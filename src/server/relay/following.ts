import { setTimeout as sleep } from 'node:timers/promises'
import { isFinal, type Receipt } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { ReceiptStore, StoredRelay } from '../store/receipts.js'

/** An authorization on its way to its end, on this server or another. */
export interface Followed {
  current(): Receipt
  /** The final receipt, or the last one that this server has seen. Never rejects. */
  readonly end: Promise<Receipt>
}

/** Follows authorizations that another server relays, by their stored records. */
export interface Following {
  of(stored: StoredRelay): Followed
  ended(receipt: Receipt): Followed
  count(): number
}

const FIRST_LOOK_MS = 250
const LONGEST_PAUSE_MS = 1_000

export function createFollowing(options: {
  readonly store: Pick<ReceiptStore, 'find'>
  /** How long a record is looked at after it was last asked for. */
  readonly patienceMs: number
  readonly stopping: AbortSignal
}): Following {
  const { store, patienceMs, stopping } = options
  const followed = new Map<Hex, Followed & { until: number }>()

  function start({ record }: StoredRelay): Followed & { until: number } {
    const { digest } = record.receipt
    let receipt = record.receipt

    async function look(): Promise<Receipt> {
      for (
        let pauseMs = FIRST_LOOK_MS;
        !isFinal(receipt);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      ) {
        if (stopping.aborted || performance.now() >= each.until) break
        await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined)
        // The next look may find a store that answers.
        const stored = await store.find(digest).catch(() => undefined)
        receipt = stored?.record.receipt ?? receipt
      }
      followed.delete(digest)
      return receipt
    }

    const each = {
      current: () => receipt,
      until: performance.now() + patienceMs,
      end: Promise.resolve(receipt),
    }
    followed.set(digest, each)
    each.end = look()
    return each
  }

  return {
    of(stored) {
      const known = followed.get(stored.record.receipt.digest)
      if (known === undefined) return start(stored)
      known.until = performance.now() + patienceMs
      return known
    },
    ended: (receipt) => ({ current: () => receipt, end: Promise.resolve(receipt) }),
    count: () => followed.size,
  }
}
