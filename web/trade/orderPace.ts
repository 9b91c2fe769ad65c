const LEAST_MS = 1_500
/** Of the account's orders; more are not open at a time, and those that have ended are not asked for again. */
const MOST_OPEN = 20
/** One order's share: it is asked for, and its timeline. Together they stay below what the server lets one client ask. */
const SHARE_MS = 250

/** The pause between two questions about the same order, in milliseconds, when so many are shown. */
export function orderPace(shown: number): number {
  return Math.max(LEAST_MS, Math.min(shown, MOST_OPEN) * SHARE_MS)
}
