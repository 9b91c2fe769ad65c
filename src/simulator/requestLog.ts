import type { SeenRequest } from './controlClient.js'

/** The log drops its oldest entries beyond this number. */
const KEPT = 10_000

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
