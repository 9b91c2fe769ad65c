import { sleep } from './retry.js'

/** Half of what a page has for a frame at 60 a second. */
const SLICE_MS = 8

/** Cuts a long computation into slices, between which a page draws and takes its user's keys. */
export function createSlices(signal?: AbortSignal) {
  let end = performance.now() + SLICE_MS
  return {
    isOver: () => performance.now() > end,
    /** @throws the signal's reason */
    async next(): Promise<void> {
      await sleep(0, signal)
      end = performance.now() + SLICE_MS
    },
  }
}

export type Slices = ReturnType<typeof createSlices>
