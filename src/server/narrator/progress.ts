import type { NarratorLook } from './poll.js'

/** How the narration stands, for whoever asks. */
export interface NarratorProgress {
  /** To be told of each look that succeeded. */
  readonly note: (look: NarratorLook) => void
  /** Undefined before the first look. */
  readonly last: () => NotedLook | undefined
  /** Milliseconds since the last look, or since the start where there was none. */
  readonly silentMs: () => number
  /** To be told when lines are printed, and when whoever reads them has taken them. */
  readonly notePrinting: (isPrinting: boolean) => void
  /** Lines wait for whoever reads them. */
  readonly isPrinting: () => boolean
}

export interface NotedLook extends NarratorLook {
  /** Unix milliseconds. */
  readonly at: number
}

export function createNarratorProgress(): NarratorProgress {
  let notedAt = performance.now()
  let last: NotedLook | undefined
  let isPrinting = false
  return {
    note(look) {
      notedAt = performance.now()
      last = { ...look, at: Date.now() }
    },
    last: () => last,
    silentMs: () => performance.now() - notedAt,
    notePrinting(isNow) {
      isPrinting = isNow
    },
    isPrinting: () => isPrinting,
  }
}

/** Blocks that the look was to narrate, and has left. */
export function lagOf({ block, due }: NarratorLook): number {
  return Math.max(0, due - block)
}
