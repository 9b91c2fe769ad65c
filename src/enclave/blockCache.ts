import type { ViewCaller } from '../chain/contractReader.js'

/** Runs that work side by side look at the head, at a block below it, and at what was the head a moment ago. */
const MAX_BLOCKS = 4

export interface BlockCache extends ViewCaller {
  clear(): void
}

/**
 * Asks for each view of a block once: at a block's hash an answer never changes. Failures are not kept, nor is anything
 * that is asked for by a number or a tag.
 */
export function createBlockCache(caller: ViewCaller): BlockCache {
  /** The block that was used last comes last. */
  const blocks = new Map<string, Map<string, Promise<string>>>()

  function answersAt(hash: string): Map<string, Promise<string>> {
    const answers = blocks.get(hash) ?? new Map<string, Promise<string>>()
    blocks.delete(hash)
    blocks.set(hash, answers)
    const [oldest] = blocks.keys()
    if (blocks.size > MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest)
    return answers
  }

  return {
    call(request) {
      const { to, data, blockTag } = request
      if (typeof blockTag !== 'string' || !blockTag.startsWith('0x')) return caller.call(request)
      const answers = answersAt(blockTag)
      const key = `${to} ${data}`
      const known = answers.get(key)
      if (known !== undefined) return known
      const asked = caller.call(request)
      answers.set(key, asked)
      asked.catch(() => answers.delete(key))
      return asked
    },
    clear: () => blocks.clear(),
  }
}
