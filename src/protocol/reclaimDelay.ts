/** Seconds after the deadline until an account may reclaim its order: `Authority.RECLAIM_DELAY`. */
export const RECLAIM_DELAY = 7 * 86_400

/** Whether an account could reclaim its order at `time` (Unix seconds); earlier, only the enclave can refund it. */
export function isReclaimable(deadline: number, time: number): boolean {
  return time >= deadline + RECLAIM_DELAY
}
