import type { BlockTag } from 'ethers'
import { ChainAnswerError } from '../../chain/errors.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { ChainHead } from './chainHead.js'

/** What is remembered of one block at most: some megabytes. */
const CAPACITY = 10_000

/**
 * Reads at the chain's head, and remembers what was read for as long as that block is the head: the very same object for
 * whoever asks for the same, also at the same time. A failure is not remembered.
 *
 * @param read asks the chain, of one block and in one turn of the event loop, so that it is one request
 * @returns throws as `read` does
 */
export function createHeadReads<K, T>(options: {
  readonly head: Pick<ChainHead, 'current'>
  readonly read: (key: K, block: BlockTag) => Promise<T>
}): (key: K) => Promise<T> {
  const { head, read } = options
  let block: string | undefined
  let known = createRecentMap<K, Promise<T>>(CAPACITY)

  /** A node may be behind the one that told the head, or not take a hash: then its own latest block has to do, once. */
  function readAnyhow(key: K, hash: string, forget: () => void): Promise<T> {
    return read(key, hash).catch((error: unknown) => {
      if (!(error instanceof ChainAnswerError)) throw error
      return read(key, 'latest').finally(forget)
    })
  }

  return async (key) => {
    const { hash } = await head.current()
    if (hash !== block) {
      block = hash
      known = createRecentMap(CAPACITY)
    }
    const values = known
    const before = values.get(key)
    if (before !== undefined) return before
    const forget = () => void values.delete(key)
    const value = readAnyhow(key, hash, forget)
    values.set(key, value)
    value.catch(forget)
    return value
  }
}
