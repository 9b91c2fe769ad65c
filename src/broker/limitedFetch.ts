/** The limit is counted by the minute: whoever asks for more patience has another clock. */
const LONGEST_PAUSE_MS = 60_000
const TOO_MANY_REQUESTS = 429

/**
 * A `fetch` that keeps to the rate limit that the answers of each host state (`X-RateLimit-Remaining`, and `X-RateLimit-Reset`
 * in Unix seconds): when nothing is left it answers 429 itself until the reset, and sends nothing.
 *
 * @param now Unix ms
 */
export function createLimitedFetch(send: typeof fetch = fetch, now: () => number = Date.now): typeof fetch {
  /** By origin: when the limit resets that was used up. */
  const usedUp = new Map<string, number>()
  return async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input)
    const resetAt = usedUp.get(origin)
    const pauseMs = (resetAt ?? 0) - now()
    // A longer pause than any is a clock that was set back since.
    if (resetAt !== undefined && pauseMs > 0 && pauseMs <= LONGEST_PAUSE_MS) return refusal(resetAt)
    usedUp.delete(origin)
    const response = await send(input, init)
    const reset = resetOf(response.headers)
    if (reset !== undefined) usedUp.set(origin, Math.min(reset, now() + LONGEST_PAUSE_MS))
    return response
  }
}

function refusal(resetAt: number): Response {
  const headers = { 'x-ratelimit-reset': String(Math.ceil(resetAt / 1_000)) }
  return new Response(null, { status: TOO_MANY_REQUESTS, headers })
}

/** Undefined when something is left, or nothing is said. */
function resetOf(headers: Headers): number | undefined {
  const reset = headers.get('x-ratelimit-reset') ?? ''
  if (headers.get('x-ratelimit-remaining') !== '0' || !/^\d{1,11}$/.test(reset)) return undefined
  return Number(reset) * 1_000
}
