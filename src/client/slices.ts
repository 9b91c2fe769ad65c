import { sleep } from './retry.js'

/** Half of what a page has for a frame at 60 a second. */
const SLICE_MS = 8

/** What browsers have in part: a timer of 0 ms in a row of them waits for 4 ms. */
const { scheduler }: { readonly scheduler?: { yield?(): Promise<void> } } = globalThis as object

/** Cuts a long computation into slices, between which a page draws and takes its user's keys. */
export function createSlices(signal?: AbortSignal) {
  let end = performance.now() + SLICE_MS
  return {
    isOver: () => performance.now() > end,
    /** @throws the signal's reason */
    async next(): Promise<void> {
      await (scheduler?.yield?.() ?? sleep(0, signal))
      signal?.throwIfAborted()
      end = performance.now() + SLICE_MS
    },
  }
}

export type Slices = ReturnType<typeof createSlices>
