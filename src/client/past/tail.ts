import { ClientError } from '../errors.js'
import type { Listing, ListOptions } from '../listing.js'

/** One read of a list to its end. Awaits `report`, which gets what has been read so far. */
export type Tail<L> = (signal?: AbortSignal, report?: (soFar: L) => void | Promise<void>) => Promise<L>

/** The range that a node is asked for at first, and the one that nearly every node answers. */
const [MOST_BLOCKS, FEW_BLOCKS] = [50_000, 2_000]

/**
 * Reads a list of the client's to its end, and from then on what is new. A read that fails or is aborted keeps what it has read.
 * A node that falls silent is asked for fewer blocks the next time.
 * @example const { orders } = await createTail<OrderListing>((options) => client.getOrders({ fromBlock: 1, ...options }))()
 */
export function createTail<L extends Listing>(
  list: (options: Omit<ListOptions<L>, 'fromBlock' | 'limit'>) => AsyncGenerator<L>,
): Tail<L> {
  let last: L | undefined
  let maxBlocks = MOST_BLOCKS
  return async (signal, report) => {
    try {
      for await (const soFar of list({ signal, resume: last, maxBlocks })) {
        last = soFar
        if (!soFar.isComplete) await report?.(soFar)
      }
    } catch (error) {
      const isSilent = error instanceof ClientError && error.code === 'node-unavailable'
      if (isSilent) maxBlocks = Math.max(FEW_BLOCKS, Math.floor(maxBlocks / 2))
      throw error
    }
    if (last === undefined) throw new Error('the client yields a listing at least once')
    return last
  }
}
