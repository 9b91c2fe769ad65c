import { refusal } from './refusal.js'
import type { Reply } from './types.js'

const WINDOW_MS = 60_000
/** Alpaca's limit, stated in the headers whether or not it is enforced here. */
const DOCUMENTED_LIMIT = 200

export interface RateLimit {
  /** Requests a minute and account from which on they are refused; null never refuses. */
  enforce(perMinute: number | null): void
  /** Counts one request: the headers for its answer, and the refusal when it is one too many. */
  count(account: string): { headers: Record<string, string>; refused: Reply | undefined }
}

/** Windows of one minute, per account, as `X-RateLimit-*` describes them. */
export function createRateLimit(now: () => Date): RateLimit {
  const windows = new Map<string, { until: number; used: number }>()
  let limit: number | null = null
  return {
    enforce: (perMinute) => {
      limit = perMinute
      windows.clear()
    },
    count(account) {
      const at = now().getTime()
      const current = windows.get(account)
      const window = current && current.until > at ? current : { until: at + WINDOW_MS, used: 0 }
      window.used += 1
      windows.set(account, window)
      const stated = limit ?? DOCUMENTED_LIMIT
      const headers = {
        'X-RateLimit-Limit': String(stated),
        'X-RateLimit-Remaining': String(Math.max(0, stated - window.used)),
        'X-RateLimit-Reset': String(Math.ceil(window.until / 1000)),
      }
      const refused =
        limit !== null && window.used > limit ? refusal(429, 42910000, 'rate limit exceeded') : undefined
      return { headers, refused }
    },
  }
}
