/** Seconds after its deadline from which an account may take its order back: `Authority.RECLAIM_DELAY`. */
export const RECLAIM_DELAY = 7 * 86_400
