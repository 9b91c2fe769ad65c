import { Agent, type ClientRequest, type IncomingMessage, request as sendHttp } from 'node:http'
import { request as sendHttps, Agent as TlsAgent } from 'node:https'
import * as z from 'zod'
import { BrokerError, type BrokerErrorKind } from './errors.js'
import type { RateBudget, Token } from './rateBudget.js'
import { type Purpose, resetAt } from './rateLimit.js'

/** An answer larger than this is not read to its end. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** With the wait for a token and the longest time-out, a call is over within 30 s: what settles an order relies on that. */
const MAX_CONNECT_MS = 5_000
/** Shorter than any proxy in front of the broker keeps a connection open. */
const IDLE_MS = 30_000

interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** The path without anything filled in, for error messages: `/v2/orders/{id}`. Left out where nothing is. */
  readonly route?: string | undefined
  readonly query?: Record<string, string> | undefined
  readonly body?: Record<string, string> | undefined
}

/** A request whose token was taken before. */
export interface PreparedSending {
  readonly token: Token
  /**
   * Runs once the connection stands, in the same tick as the request's bytes are written. If it throws, the request rejects with the
   * same error and no byte is sent.
   */
  beforeSend?(): void
}

const errorBodySchema = z.object({
  code: z.number().int().optional().catch(undefined),
  /** With 403: the open order that this one is opposite to. */
  existing_order_id: z.string().optional().catch(undefined),
})

/**
 * Alpaca refuses keys, such as those of the other kind of account, with 403 and a sentence alone. Any other refusal has a `code`
 * beside it. A gateway in front of the API answers in another form.
 */
const refusedKeysSchema = z.strictObject({ message: z.string() })

/** Speaks JSON with one of Alpaca's bases, with the account's keys in `APCA-API-KEY-ID` and `APCA-API-SECRET-KEY`. */
export function createBrokerHttp(options: {
  /** Base URL, with or without a slash at its end. */
  readonly baseUrl: string
  readonly keyId: string
  readonly secretKey: string
  /** From the first byte sent to the last one read; for the connection before it at most five seconds. */
  readonly timeoutMs: number
  readonly budget: RateBudget
  /** How long a request waits for its token. */
  readonly patienceMs: number
}) {
  const { budget, patienceMs, timeoutMs } = options
  const base = options.baseUrl.replace(/\/+$/, '')
  // A key that is not a valid header value would be quoted in the error of the request.
  for (const [label, key] of [
    ['keyId', options.keyId],
    ['secretKey', options.secretKey],
  ]) {
    if (!/^[\x21-\x7e]+$/.test(key ?? ''))
      throw new TypeError(`"${label}" expected printable ASCII without spaces`)
  }
  const auth = { 'APCA-API-KEY-ID': options.keyId, 'APCA-API-SECRET-KEY': options.secretKey }
  const isTls = base.startsWith('https:')
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, timeout: IDLE_MS })

  async function send<T>(
    request: BrokerRequest,
    schema: z.ZodType<T>,
    { token, beforeSend }: PreparedSending,
  ): Promise<T> {
    const body = request.body && JSON.stringify(request.body)
    // Following a redirect would hand the keys to another host; neither of the two does.
    const message = (isTls ? sendHttps : sendHttp)(urlOf(base, request), {
      method: request.method,
      headers: {
        accept: 'application/json',
        ...auth,
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        }),
      },
      agent,
    })
    const exchange = { body, isTls, timeoutMs, beforeSend }
    const answer = await exchanged(message, exchange).catch((error: unknown) => {
      if (!(error instanceof NoAnswer)) {
        token.release()
        throw error
      }
      if (error.wasSent) token.spent()
      else token.release()
      throw unusable(request, error)
    })
    token.spent(answer)
    if (answer.status < 200 || answer.status > 299) throw refusal(request, answer)
    const parsed = schema.safeParse(answer.body)
    if (parsed.success) return parsed.data
    throw unusable(request, { wasSent: true, reason: 'unreadable' }, answer.status)
  }

  return {
    /**
     * Takes a token for this purpose, sends one request and parses its answer (204: the answer is `undefined`).
     * @throws BrokerError by kind; never retries
     */
    async request<T>(
      { purpose, ...request }: BrokerRequest & { readonly purpose: Exclude<Purpose, 'place'> },
      schema: z.ZodType<T>,
    ): Promise<T> {
      const token = await budget.take({ purpose, withinMs: patienceMs })
      if (token === null) throw rateLimited(routeOf(request), budget)
      return send(request, schema, { token })
    },
    /** The same with a token that was taken before: an order must not wait between its look at the chain and its bytes. */
    send,
  }
}

export type BrokerHttp = ReturnType<typeof createBrokerHttp>

/** The budget's own refusal, before any byte was sent. */
function rateLimited(route: string, budget: RateBudget): BrokerError {
  const resetAt = budget.resetAt()
  return new BrokerError('rate-limited', {
    route,
    resetAt: resetAt === undefined ? undefined : new Date(resetAt),
  })
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** Parsed JSON; `undefined` when there was none or it could not be parsed. */
  readonly body: unknown
}

/** There was no usable answer. */
class NoAnswer extends Error {
  constructor(
    /** Whether any byte of the request may have left. */
    readonly wasSent: boolean,
    readonly reason: string,
  ) {
    super(reason)
  }
}

/**
 * Sends one request over a connection that stands already. `node:http` rather than `fetch`: only here the writing of the bytes is
 * ours, so that a process which was stopped before it learns so before it sends.
 * @throws NoAnswer, or what `beforeSend` throws
 */
function exchanged(
  message: ClientRequest,
  exchange: {
    readonly beforeSend: (() => void) | undefined
    readonly body: string | undefined
    readonly isTls: boolean
    readonly timeoutMs: number
  },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let wasSent = false
    const fail = (error: unknown) => {
      clearTimeout(timer)
      message.destroy()
      reject(error)
    }
    const lost = (error: unknown) => fail(new NoAnswer(wasSent, systemCode(error) ?? 'connection-lost'))
    const timedOut = () => fail(new NoAnswer(wasSent, 'timeout'))
    let timer = setTimeout(timedOut, Math.min(exchange.timeoutMs, MAX_CONNECT_MS))
    const start = () => {
      clearTimeout(timer)
      timer = setTimeout(timedOut, exchange.timeoutMs)
      try {
        exchange.beforeSend?.()
      } catch (error) {
        fail(error)
        return
      }
      wasSent = true
      message.end(exchange.body)
    }
    message.on('error', lost)
    message.on('socket', (socket) => {
      if (message.reusedSocket) start()
      else socket.once(exchange.isTls ? 'secureConnect' : 'connect', start)
    })
    message.on('response', (response) => {
      readBounded(response).then((text) => {
        clearTimeout(timer)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: parseJson(text),
        })
      }, lost)
    })
  })
}

async function readBounded(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early destroys the connection.
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.byteLength
    if (size > MAX_BODY_BYTES) throw new OversizedBody()
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

class OversizedBody extends Error {
  readonly code = 'oversized'
}

function urlOf(base: string, request: BrokerRequest): string {
  const query = request.query ? `?${new URLSearchParams(request.query)}` : ''
  return `${base}${request.path}${query}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A failure without a usable answer is harmless only when nothing could have been changed. */
function unusable(
  request: BrokerRequest,
  { wasSent, reason }: { wasSent: boolean; reason: string },
  status?: number,
): BrokerError {
  const isHarmless = request.method === 'GET' || !wasSent
  return new BrokerError(isHarmless ? 'unavailable' : 'ambiguous', {
    route: routeOf(request),
    reason,
    status,
  })
}

/** The system's error code: connecting to several addresses collects some. */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError && !('code' in error)) return systemCode(error.errors[0])
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function refusal(request: BrokerRequest, answer: Answer): BrokerError {
  const { status } = answer
  // Redirects, 408 and 5xx say nothing of what became of the request.
  if (status < 400 || status === 408 || status >= 500) {
    return unusable(request, { wasSent: true, reason: 'no-answer' }, status)
  }
  const body = errorBodySchema.safeParse(answer.body)
  return new BrokerError(kindOf(answer), {
    route: routeOf(request),
    status,
    code: body.data?.code,
    isOpposed: status === 403 && body.data?.existing_order_id !== undefined,
    resetAt: status === 429 ? resetAt(answer.headers) : undefined,
  })
}

function kindOf({ status, body }: Answer): BrokerErrorKind {
  if (status === 401) return 'unauthorized'
  if (status === 403 && refusedKeysSchema.safeParse(body).success) return 'unauthorized'
  if (status === 404) return 'not-found'
  return status === 429 ? 'rate-limited' : 'rejected'
}

/** Null where the broker has no such order or asset. */
export function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof BrokerError && error.kind === 'not-found') return null
    throw error
  })
}

function routeOf(request: BrokerRequest): string {
  return `${request.method} ${request.route ?? request.path}`
}
