/** Longer numbers are no time anybody waits. */
const WAIT = /^wait *= *(\d{1,6})$/i

/**
 * How long the caller wants to be kept waiting at most: `Prefer: wait=<seconds>` (RFC 7240 §4.3); the server's own
 * limit when it says nothing, or more. Other preferences are ignored, as the RFC asks.
 *
 * @returns milliseconds
 */
export function waitPreference(header: string | undefined, limitMs: number): number {
  for (const preference of (header ?? '').split(',')) {
    const seconds = WAIT.exec(preference.trim())?.[1]
    // Of two, the first one counts (RFC 7240 §2).
    if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, limitMs)
  }
  return limitMs
}
