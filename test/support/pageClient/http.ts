// Requests to the server: section 9 of docs/protocol.md.
import { type JsonObject, objectOf } from './json.js'

/** Longer than the run of the enclave that `POST /policy` waits for. */
const TIME_LIMIT_MS = 180_000
const ATTEMPTS = 5
const COMES_AGAIN = [429, 503]

/** A refusal by the server; branch on `code`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  readonly code: unknown
  /** Why a rulebook was rejected. */
  readonly reason: unknown

  constructor(status: number, { code, reason, detail }: JsonObject) {
    super(`${status} ${code}: ${detail}`)
    this.status = status
    this.code = code
    this.reason = reason
  }
}

export interface Answer {
  readonly body: JsonObject
  readonly etag: string | undefined
}

export interface Http {
  /** Resolves with undefined when nothing has changed since `etag`. */
  get(path: string, etag?: string): Promise<Answer | undefined>
  post(path: string, body: unknown): Promise<JsonObject>
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Repeats by itself, a few times, what the server asks to be repeated later. */
export function connectServer(url: string): Http {
  async function request(path: string, init: RequestInit): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(new URL(path, url), {
        ...init,
        signal: AbortSignal.timeout(TIME_LIMIT_MS),
      })
      if (response.ok || response.status === 304) return response
      if (!COMES_AGAIN.includes(response.status) || attempt === ATTEMPTS) {
        throw new ProblemError(response.status, objectOf(await response.json()))
      }
      await response.body?.cancel()
      await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1))
    }
  }

  return {
    async get(path, etag) {
      const response = await request(path, { headers: etag === undefined ? {} : { 'if-none-match': etag } })
      if (response.status === 304) return undefined
      return { body: objectOf(await response.json()), etag: response.headers.get('etag') ?? undefined }
    },
    async post(path, body) {
      const headers = { 'content-type': 'application/json' }
      const response = await request(path, { method: 'POST', headers, body: JSON.stringify(body) })
      return objectOf(await response.json())
    },
  }
}
