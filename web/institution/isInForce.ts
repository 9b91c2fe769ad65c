/**
 * Whether the version published here is in force. `read` is the version last read: it may lag, or be newer after a
 * publication elsewhere.
 */
export function isInForce(published: number | null, read: number): boolean {
  return published !== null && published >= read
}
