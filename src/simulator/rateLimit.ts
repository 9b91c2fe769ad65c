import { type Reply, refusal } from './types.js'

const WINDOW_MS = 60_000

/** Windows of one minute, per account and API, as `X-RateLimit-*` describes them. */
export function createAccountRateLimit(now: () => Date) {
  const windows = new Map<string, { until: number; used: number }>()
  let limit: number | null = null
  return {
    /** The limit in requests per minute, account and API; null disables the limit and its headers. */
    enforce: (perMinute: number | null): void => {
      limit = perMinute
      windows.clear()
    },
    /** Counts one request. Returns the headers of its answer, and the refusal if it exceeds the limit. */
    count(
      account: string,
      api: 'trading' | 'data',
    ): { headers: Record<string, string>; refused: Reply | undefined } {
      if (limit === null) return { headers: {}, refused: undefined }
      const at = now().getTime()
      const key = `${api} ${account}`
      const current = windows.get(key)
      const window = current && current.until > at ? current : { until: at + WINDOW_MS, used: 0 }
      window.used += 1
      windows.set(key, window)
      const headers = {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(Math.max(0, limit - window.used)),
        'X-RateLimit-Reset': String(Math.ceil(window.until / 1000)),
      }
      const refused = window.used > limit ? refusal(429, 42910000, 'rate limit exceeded') : undefined
      return { headers, refused }
    },
  }
}

export type AccountRateLimit = ReturnType<typeof createAccountRateLimit>
