import type { NarratorLook } from './poll.js'

/** How the narration stands, for whoever asks. */
export interface NarratorProgress {
  /** To be told when this server begins to narrate, and when it no longer does: another one may then. */
  readonly begin: () => void
  readonly end: () => void
  readonly isNarrating: () => boolean
  /** To be told of each look that succeeded. */
  readonly note: (look: NarratorLook) => void
  /** Undefined before the first look, and while this server does not narrate. */
  readonly last: () => NarratorLook | undefined
  /** When the last look was, or the beginning where there was none: Unix milliseconds. */
  readonly lookedAt: () => number
  /** Milliseconds since the last look, or since the beginning where there was none. */
  readonly silentMs: () => number
  /** To be told when lines are printed, and when whoever reads them has taken them. */
  readonly notePrinting: (isPrinting: boolean) => void
  /** Lines wait for whoever reads them. */
  readonly isPrinting: () => boolean
}

export function createNarratorProgress(): NarratorProgress {
  let notedAt = performance.now()
  let lookedAt = Date.now()
  let last: NarratorLook | undefined
  let isPrinting = false
  let isNarrating = false
  return {
    begin() {
      isNarrating = true
      notedAt = performance.now()
      lookedAt = Date.now()
    },
    end() {
      isNarrating = false
      last = undefined
    },
    isNarrating: () => isNarrating,
    note(look) {
      notedAt = performance.now()
      lookedAt = Date.now()
      last = look
    },
    last: () => last,
    lookedAt: () => lookedAt,
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
