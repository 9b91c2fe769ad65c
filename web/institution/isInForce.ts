/**
 * Whether the version that was published here is in force. `read` is what was in force when it was last read: that may be
 * an older one still, and is a newer one once another rulebook has been published elsewhere.
 */
export function isInForce(published: number | null, read: number): boolean {
  return published !== null && published >= read
}
