/** Seconds after its deadline from which an account may take its order back: `Authority.RECLAIM_DELAY`. */
export const RECLAIM_DELAY = 7 * 86_400

/** Whether an account could take its order back at a time (Unix seconds); before it, only the enclave can refund it. */
export function isReclaimable(deadline: number, time: number): boolean {
  return time >= deadline + RECLAIM_DELAY
}
