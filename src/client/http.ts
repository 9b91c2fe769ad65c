import type * as z from 'zod/mini'
import { problemSchema } from '../protocol/api.js'
import { jsonOf } from '../protocol/json.js'
import { isSecureUrl } from '../protocol/secureUrl.js'
import { timeLimit } from '../protocol/timeLimit.js'
import { ClientError, ServerError } from './errors.js'

interface HttpOptions {
  /** With or without a trailing slash. */
  readonly serverUrl: string
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number
  readonly fetch?: typeof fetch | undefined
}

/** The last parameter of every call. An aborted call rejects with the signal's own reason. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface RequestOptions extends CallOptions {
  /** Overrides the client's default. */
  readonly timeoutMs?: number | undefined
  /** Further headers of a post. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** An answer with the validator for the next `If-None-Match`. */
export interface Tagged<T> {
  readonly body: T
  readonly etag: string | null
}

interface Exchange {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

const NOT_MODIFIED = 304
const ACCEPT = { accept: 'application/json' }

/** @throws ClientError `insecure-url` */
export function createHttp(options: HttpOptions) {
  // A relative URL is of the page's own server.
  if (URL.canParse(options.serverUrl) && !isSecureUrl(options.serverUrl)) {
    throw new ClientError('insecure-url', 'The server is reached over https, or at localhost.')
  }
  const send = sender(options)
  return {
    async get<T>(path: string, schema: z.ZodMiniType<T>, request?: RequestOptions): Promise<T> {
      const { text } = await send({ method: 'GET', path, headers: ACCEPT }, request)
      return parse(path, schema, text)
    },
    /** `'unchanged'` if the server answers 304 to `etag`. */
    async getIfChanged<T>(
      path: string,
      schema: z.ZodMiniType<T>,
      etag: string | null,
      request?: RequestOptions,
    ): Promise<Tagged<T> | 'unchanged'> {
      const headers = etag === null ? ACCEPT : { ...ACCEPT, 'if-none-match': etag }
      const answer = await send({ method: 'GET', path, headers }, request)
      if (answer.status === NOT_MODIFIED) return 'unchanged'
      return { body: parse(path, schema, answer.text), etag: answer.headers.get('etag') }
    },
    async post<T>(
      path: string,
      body: unknown,
      schema: z.ZodMiniType<T>,
      request?: RequestOptions,
    ): Promise<T> {
      const headers = { ...ACCEPT, 'content-type': 'application/json', ...request?.headers }
      const { text } = await send({ method: 'POST', path, headers, body: JSON.stringify(body) }, request)
      return parse(path, schema, text)
    },
  }
}

/**
 * The API over HTTP. Every method throws ServerError for a status of 400 or more, and ClientError `server-timeout`,
 * `server-unreachable` or `unexpected-answer`. An aborted call throws the signal's own reason.
 */
export type Http = ReturnType<typeof createHttp>

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

function sender(options: HttpOptions) {
  const base = options.serverUrl.replace(/\/+$/, '')
  // Without a name and a password.
  const shown = base.replace(/\/\/[^/]*@/, '//')
  // A browser's fetch throws unless called on its own global.
  const fetchIt: typeof fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
  return async ({ path, ...exchange }: Exchange, request: RequestOptions = {}): Promise<Answer> => {
    const signal = timeLimit(request.timeoutMs ?? options.timeoutMs, request.signal)
    try {
      const response = await fetchIt(base + path, {
        ...exchange,
        signal,
        credentials: 'omit',
        cache: 'no-store',
      })
      const { status, headers } = response
      const answer = { status, headers, text: await response.text() }
      if (status >= 400) throw serverError(answer, shown)
      return answer
    } catch (error) {
      if (error instanceof ServerError) throw error
      request.signal?.throwIfAborted()
      if (signal.aborted) throw new ClientError('server-timeout', `${shown}${path} was not answered in time`)
      throw new ClientError('server-unreachable', `${shown}${path} cannot be reached`, { cause: error })
    }
  }
}

function parse<T>(path: string, schema: z.ZodMiniType<T>, text: string): T {
  const body = schema.safeParse(jsonOf(text))
  if (body.success) return body.data
  throw new ClientError('unexpected-answer', `${path}: the answer does not match the documented schema`, {
    cause: body.error,
  })
}

function serverError({ status, headers, text }: Answer, base: string): ServerError {
  const problem = problemSchema.safeParse(jsonOf(text))
  const body = problem.success ? problem.data : null
  const requestId = body?.requestId ?? headers.get('x-request-id')
  const page = body && URL.canParse(body.type, base) ? new URL(body.type, base) : null
  // A page shows it as a link: no `javascript:` of a server's becomes one.
  const docs = page && /^https?:$/.test(page.protocol) ? page.href : undefined
  return new ServerError(status, requestId, secondsOf(headers.get('retry-after')), body, docs)
}

/** `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. */
function secondsOf(retryAfter: string | null): number | null {
  if (retryAfter === null) return null
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter)
  const date = Date.parse(retryAfter)
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - Date.now()) / 1_000))
}
