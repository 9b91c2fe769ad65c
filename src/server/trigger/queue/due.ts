/** When something is due: by the clock of the day, and by the one that nobody sets, `performance.now()`. In milliseconds. */
export interface Due {
  readonly unixMs: number
  readonly steadyMs: number
}

/** As far away by either clock as it is now. */
export function due(unixMs: number): Due {
  return { unixMs, steadyMs: performance.now() + unixMs - Date.now() }
}

/** Milliseconds until either clock says that it is due: early, a run does no harm, but late it may be hours. */
export function waitFor({ unixMs, steadyMs }: Due): number {
  return Math.min(unixMs - Date.now(), steadyMs - performance.now())
}
