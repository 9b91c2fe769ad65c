import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'

/** The answer of one of our programs to another. */
export interface PostAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Cut after the limit. */
  readonly text: string
}

/** Posts JSON, or gets without a body. A redirect is an answer like any other. Rejects with the system's error. */
export type Post = (
  /** An http or https URL, or `unix:` and the absolute path of a socket. */
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  /** The path with its query, in place of the URL's own; `/` at a socket. */
  path?: string,
) => Promise<PostAnswer>

const IDLE_MS = 5_000

/** An answer of ours is some hundred bytes. */
const MAX_ANSWER_BYTES = 65_536

/** System calls that fail before a connection is there, so that nothing can have been sent. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

export function hasNotConnected(error: unknown): boolean {
  // A host with several addresses: each was tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(hasNotConnected)
  return error instanceof Error && 'syscall' in error && BEFORE_SENDING.has(error.syscall)
}

export function createPost({
  timeoutMs,
  maxConnections,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: {
  /** Milliseconds for the whole exchange, the wait for a connection included. */
  readonly timeoutMs: number
  /** Connections at once; further posts wait for one. */
  readonly maxConnections: number
  readonly maxAnswerBytes?: number
}): Post {
  // The time-out closes connections that no post uses.
  const settings = { keepAlive: true, maxSockets: maxConnections, timeout: IDLE_MS }
  const plain = new Agent(settings)
  const tls = new TlsAgent(settings)

  function open(url: string, options: object, path?: string) {
    if (url.startsWith('unix:')) {
      return request({ ...options, agent: plain, socketPath: url.slice('unix:'.length), path: path ?? '/' })
    }
    const target = path === undefined ? url : new URL(path, url)
    return url.startsWith('https:')
      ? tlsRequest(target, { ...options, agent: tls })
      : request(target, { ...options, agent: plain })
  }

  return (url, headers, body, path) =>
    new Promise((resolve, reject) => {
      const ofBody = body !== undefined && {
        ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
      }
      const options = {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...ofBody },
        signal: AbortSignal.timeout(timeoutMs),
      }
      const sent = open(url, options, path)
      sent.on('error', reject)
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          if (size < maxAnswerBytes) chunks.push(chunk)
          size += chunk.length
        })
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8', 0, maxAnswerBytes)
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      sent.end(body)
    })
}
