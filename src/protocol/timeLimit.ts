/** The longest timer, about 24 days: timers hold their delay in 32 bits, and a longer timer fires immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Aborts with the caller's signal, or after the timeout.
 * @param timeoutMs MAX_TIMER_MS at most
 */
export function timeLimit(timeoutMs: number, caller?: AbortSignal): AbortSignal {
  const over = AbortSignal.timeout(timeoutMs)
  return caller === undefined ? over : AbortSignal.any([caller, over])
}
