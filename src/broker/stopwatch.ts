/**
 * Milliseconds since the call, by whichever clock shows more: the monotonic one stands still while the machine sleeps, and the
 * other one may be set.
 * @param now Unix milliseconds
 */
export function stopwatch(now: () => number): () => number {
  const [unix, monotonic] = [now(), performance.now()]
  return () => Math.max(now() - unix, performance.now() - monotonic)
}
