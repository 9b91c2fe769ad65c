import type { Receipt } from '../../protocol/api.js'
import type { Course } from './course.js'

/** Waits for a course's end, for `waitMs` at most, and not beyond the server's stop. Resolves with the receipt so far;
 * at once when no time is left, as what came before may have used up the caller's. */
export type Wait = (course: Course, waitMs: number) => Promise<Receipt>

/**
 * One listener to the stop serves all who wait: each of its own would be looked for among all of them when it goes.
 *
 * @param stopping aborts when the server begins to stop
 */
export function createWaitingRoom(stopping: AbortSignal): Wait {
  const waiting = new Set<() => void>()
  stopping.addEventListener('abort', () => {
    for (const leave of waiting) leave()
  })
  return async (course, waitMs) => {
    if (stopping.aborted || waitMs <= 0) return course.current()
    await new Promise<void>((resolve) => {
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(leave)
        resolve()
      }
      const timer = setTimeout(leave, waitMs)
      waiting.add(leave)
      void course.end.then(leave)
    })
    return course.current()
  }
}
