import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 100

/**
 * Resolves with the first value of `look` that is neither null, undefined nor false.
 * @throws Error naming `what` when there was none in time
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 120_000,
): Promise<T> {
  const giveUpAt = Date.now() + timeoutMs
  while (Date.now() < giveUpAt) {
    const value = await look()
    if (value !== null && value !== undefined && value !== false) return value
    await sleep(POLL_MS)
  }
  throw new Error(`did not come about in ${timeoutMs} ms: ${what}`)
}
