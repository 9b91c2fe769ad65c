/** The longest timer, of some 24 days: timers count in 32 bits, and a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Aborts with the caller's signal, or when the time is over.
 *
 * @param timeoutMs MAX_TIMER_MS at most
 */
export function timeLimit(timeoutMs: number, caller?: AbortSignal): AbortSignal {
  const over = AbortSignal.timeout(timeoutMs)
  return caller === undefined ? over : AbortSignal.any([caller, over])
}
