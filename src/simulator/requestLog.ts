/** The log drops its oldest entries beyond this number. */
const KEPT = 10_000

/** One request to Alpaca's routes. It holds no key: `account` is the account's name, null for refused keys. */
export interface SeenRequest {
  readonly at: string
  readonly account: string | null
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly body: unknown
  /** The answer's status; `dropped` if the connection was cut instead. */
  readonly outcome: number | 'dropped'
}

export function createRequestLog() {
  const seen: SeenRequest[] = []
  return {
    add(request: SeenRequest): void {
      seen.push(request)
      if (seen.length > KEPT) seen.splice(0, seen.length - KEPT)
    },
    all: (): SeenRequest[] => [...seen],
  }
}

export type RequestLog = ReturnType<typeof createRequestLog>
