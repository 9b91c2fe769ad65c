import { z } from 'zod'
import { BrokerError, type BrokerErrorKind } from './errors.js'

/** An answer larger than this is not read to its end. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Failures of the connection itself: the request was certainly not sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

interface BrokerHttpOptions {
  /** Base URL, with or without a slash at its end. */
  readonly baseUrl: string
  readonly keyId: string
  readonly secretKey: string
  /** From the first byte sent to the last one read. */
  readonly timeoutMs: number
  readonly fetch?: typeof fetch | undefined
}

export interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path without anything filled in, for error messages: `/v2/orders/{id}`. */
  readonly route: string
  readonly path: string
  readonly query?: Record<string, string> | undefined
  readonly body?: Record<string, string> | undefined
}

export interface BrokerHttp {
  /**
   * Sends one request and parses its answer (204: the answer is `undefined`).
   * @throws BrokerError by kind; never retries
   */
  request<T>(request: BrokerRequest, schema: z.ZodType<T>): Promise<T>
}

const errorBodySchema = z.object({
  code: z.number().int().optional().catch(undefined),
})

/**
 * How Alpaca refuses keys with 403, those of the other kind of account for one: a sentence alone. What it refuses of a
 * request for another reason has a `code` beside it; what stands before the API answers in another form.
 */
const refusedKeysSchema = z.strictObject({ message: z.string() })

/** Speaks JSON with one of Alpaca's bases, with the account's keys in `APCA-API-KEY-ID` and `APCA-API-SECRET-KEY`. */
export function createBrokerHttp(options: BrokerHttpOptions): BrokerHttp {
  const send = options.fetch ?? fetch
  const base = options.baseUrl.replace(/\/+$/, '')
  // A key that is not a valid header value would be quoted in fetch's own error.
  for (const [label, key] of [
    ['keyId', options.keyId],
    ['secretKey', options.secretKey],
  ]) {
    if (!/^[\x21-\x7e]+$/.test(key ?? ''))
      throw new TypeError(`"${label}" expected printable ASCII without spaces`)
  }
  const auth = { 'APCA-API-KEY-ID': options.keyId, 'APCA-API-SECRET-KEY': options.secretKey }

  return {
    async request(request, schema) {
      const answer = await exchange(() =>
        send(urlOf(base, request), {
          method: request.method,
          headers: {
            accept: 'application/json',
            ...auth,
            ...(request.body && { 'content-type': 'application/json' }),
          },
          ...(request.body && { body: JSON.stringify(request.body) }),
          signal: AbortSignal.timeout(options.timeoutMs),
          // Following one would hand the keys to another host.
          redirect: 'manual',
        }),
      ).catch((error) => {
        throw lostAnswer(request, error)
      })
      if (answer.status < 200 || answer.status > 299) throw refusal(request, answer)
      const parsed = schema.safeParse(answer.body)
      if (!parsed.success) throw unusable(request, 'unreadable', answer.status)
      return parsed.data
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON; `undefined` when there was none or it could not be parsed. */
  readonly body: unknown
}

function urlOf(base: string, request: BrokerRequest): string {
  const query = request.query ? `?${new URLSearchParams(request.query)}` : ''
  return `${base}${request.path}${query}`
}

async function exchange(send: () => Promise<Response>): Promise<Answer> {
  const response = await send()
  const text = await readBounded(response)
  return { status: response.status, headers: response.headers, body: parseJson(text) }
}

async function readBounded(response: Response): Promise<string> {
  if (!response.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the stream and with it the connection.
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw new OversizedBody()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

class OversizedBody extends Error {
  readonly code = 'oversized'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A failure without a usable answer is harmless only when nothing could have been changed. */
function unusable(request: BrokerRequest, reason: string, status?: number): BrokerError {
  const harmless = request.method === 'GET' || NOT_SENT.has(reason)
  return new BrokerError(harmless ? 'unavailable' : 'ambiguous', { route: routeOf(request), reason, status })
}

function lostAnswer(request: BrokerRequest, error: unknown): BrokerError {
  if (error instanceof DOMException && error.name === 'TimeoutError') return unusable(request, 'timeout')
  return unusable(request, systemCode(error) ?? 'connection-lost')
}

/** The system's error code: fetch keeps it one or more causes down, and connecting to several addresses collects some. */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError && !('code' in error)) return systemCode(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return systemCode(error.cause)
}

function refusal(request: BrokerRequest, answer: Answer): BrokerError {
  const { status } = answer
  // Redirects, 408 and 5xx say nothing of what became of the request.
  if (status < 400 || status === 408 || status >= 500) return unusable(request, 'no-answer', status)
  const body = errorBodySchema.safeParse(answer.body)
  return new BrokerError(kindOf(answer), {
    route: routeOf(request),
    status,
    code: body.data?.code,
    resetAt: status === 429 ? resetAt(answer.headers) : undefined,
  })
}

function kindOf({ status, body }: Answer): BrokerErrorKind {
  if (status === 401) return 'unauthorized'
  if (status === 403 && refusedKeysSchema.safeParse(body).success) return 'unauthorized'
  if (status === 404) return 'not-found'
  return status === 429 ? 'rate-limited' : 'rejected'
}

/** `X-RateLimit-Reset` is in Unix seconds. */
function resetAt(headers: Headers): Date | undefined {
  const text = headers.get('x-ratelimit-reset') ?? ''
  return /^\d{1,11}$/.test(text) ? new Date(Number(text) * 1000) : undefined
}

function routeOf(request: BrokerRequest): string {
  return `${request.method} ${request.route}`
}
