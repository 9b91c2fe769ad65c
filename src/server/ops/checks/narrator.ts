import { lagOf, type NarratorProgress } from '../../narrator/progress.js'
import type { Look } from '../check.js'

/** Looks that may fail before it is worth a word. */
const MISSED_LOOKS = 5
/** However often it looks: a node may restart. */
const LEAST_SILENCE_MS = 30_000

/** Whether the narrator still looks at the chain, and has told all that there is; nothing of one on another server. */
export function narratorLook(options: {
  readonly progress: NarratorProgress
  /** Pause between two looks. */
  readonly intervalMs: number
}): Look {
  const { progress, intervalMs } = options
  const silenceMs = Math.max(LEAST_SILENCE_MS, MISSED_LOOKS * intervalMs)
  return async () => {
    if (!progress.isNarrating()) return null
    // It does not look at the chain again before its lines are read.
    if (progress.silentMs() > silenceMs)
      return progress.isPrinting() ? 'narration-unread' : 'narration-stalled'
    const last = progress.last()
    return last !== undefined && lagOf(last) > 0 ? 'narration-behind' : null
  }
}
