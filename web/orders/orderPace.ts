const LEAST_MS = 1_500
/** The most orders that an account has open; ended orders are not polled. */
const MOST_OPEN = 20
/**
 * One order's share of polling, for its status and its timeline. All shares together are what one page may take of a server's
 * rate, which its whole office shares.
 */
const SHARE_MS = 250

/** The pause between two polls of one order in milliseconds, for this number of shown orders. */
export function orderPace(shown: number): number {
  return Math.max(LEAST_MS, Math.min(shown, MOST_OPEN) * SHARE_MS)
}
