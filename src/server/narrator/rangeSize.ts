/** How many blocks one query spans, as far as the node takes them. */
export interface RangeSize {
  blocks(): number
  /** A range was answered that was as long as this. */
  answered(): void
  /** It was not. False when there is no shorter one. */
  refused(): boolean
}

/**
 * Answers in a row after which a longer range is tried again: a provider's limit stays, so that trying it at every
 * second query would lose a third of them. Where many events were too much, a few ranges further there may be fewer.
 */
const ANSWERS_UNTIL_LONGER = 8

/** Halved with each refusal, doubled after several answers in a row, up to what is configured. */
export function createRangeSize(maxBlocks: number): RangeSize {
  let blocks = maxBlocks
  let inRow = 0
  return {
    blocks: () => blocks,
    answered() {
      if (++inRow < ANSWERS_UNTIL_LONGER) return
      blocks = Math.min(maxBlocks, blocks * 2)
      inRow = 0
    },
    refused() {
      const isShorter = blocks > 1
      blocks = Math.max(1, Math.floor(blocks / 2))
      inRow = 0
      return isShorter
    },
  }
}
