import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Config } from '../config/config.js'
import type { Limit } from '../limitUse.js'
import { clientOf, createShares } from './clients.js'
import { Problem, problemBody } from './errors.js'
import type { ProblemCode } from './problemCodes.js'

const CONNECTION_CHECK_MS = 1_000
/** Longer than a proxy's usual 60 s. */
const KEEP_ALIVE_MS = 65_000
/** A browser's request with a long token has some 2 KiB. Up to thousands of requests wait with theirs, see `fairTurns`. */
const MAX_HEADER_BYTES = 8_192
/** How often a stopping server closes connections that have become idle. */
const IDLE_CHECK_MS = 50

/**
 * @param cap the connections that a client may hold, what is called for each that is closed, and the limit that all of them use
 * @throws the system error of `listen`
 */
export async function listen(
  http: Config['http'],
  listener: RequestListener,
  cap: { readonly max?: number; readonly onClosed?: () => void; readonly ofAll?: Limit } = {},
): Promise<Server> {
  const answer: RequestListener = (req, res) => {
    // Node passes on what arrived in one read with a request that closed the connection.
    if (req.socket.destroyed) return
    // Node would keep an answer that its caller does not read in memory forever. Before the head of the answer, the caller waits for us.
    res.setTimeout(http.answerTimeoutMs, () => {
      if (res.headersSent) req.socket.destroy()
    })
    req.url = pathOf(req.url ?? '')
    listener(req, res)
  }
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: http.headersTimeoutMs,
      requestTimeout: http.requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      // The app checks it, and answers with a problem.
      requireHostHeader: false,
    },
    answer,
  )
  server.maxConnections = http.maxConnections
  const shares = createShares(
    'connections',
    cap.ofAll,
    cap.max ?? Number.POSITIVE_INFINITY,
    server.maxConnections,
  )
  server.on('connection', (socket) => {
    const client = clientOf(socket.remoteAddress)
    if (shares.hasRoom(client)) {
      socket.once('close', shares.acquire(client))
      return
    }
    socket.destroy()
    cap.onClosed?.()
  })
  server.on('clientError', answerClientError)
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1). Node refuses it, without a body.
  server.on('checkExpectation', answer)
  server.listen({ port: http.port, ...(http.host !== undefined && { host: http.host }) })
  await once(server, 'listening')
  return server
}

/** Resolves when every connection is closed: idle ones immediately, busy ones once answered or after `limitMs`. */
export async function close(server: Server, limitMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node closes the connections that are idle now. Those that become idle later would be kept alive.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const limit = setTimeout(() => server.closeAllConnections(), limitMs)
  await closed
  clearInterval(idle)
  clearTimeout(limit)
}

/** The port in use, also when 0 asked for any. */
export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Node's codes for bytes that did not become a request; any other code is a malformed request. */
const CODES = new Map<unknown, ProblemCode>([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
])

/** How long a caller has to read the rest of its last answer. */
const LINGER_MS = 2_000

/** The connections that are being hung up. Further bytes on them are read and dropped. */
const closing = new WeakSet<Duplex>()

/** Handles a server's `clientError` event: answers with a problem body, as every other failure, and hangs up. */
function answerClientError(error: Error, socket: Duplex): void {
  const gone = 'code' in error && error.code === 'ECONNRESET'
  if (!gone && closing.has(socket)) return
  if (gone || !socket.writable) {
    socket.destroy()
    return
  }
  const code = CODES.get('code' in error ? error.code : undefined) ?? 'malformed-request'
  hangUpWith(socket, code)
}

/** Answers with that problem in place of a request that has not arrived whole, and hangs up. */
export function hangUpWith(socket: Duplex, code: ProblemCode): void {
  if (closing.has(socket) || !socket.writable) return
  closing.add(socket)
  const underWay = answerUnderWay(socket)
  if (underWay !== undefined) {
    // The request before this one may have its whole answer; a second one must not be written into it.
    underWay.once('finish', () => hangUp(socket.resume()))
    // Each byte that came in would put off the time limit of that answer (`answerTimeoutMs`).
    socket.pause()
    return
  }
  hangUp(socket, rawAnswer(new Problem(code)))
}

/**
 * Ends the answers, and closes when the caller does, or after its time (RFC 9112, 9.6). A connection that is closed while bytes
 * come in is reset, and the caller loses the part of its answer that it has not read.
 */
function hangUp(socket: Duplex, lastAnswer = ''): void {
  socket.end(lastAnswer)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  const message: unknown = '_httpMessage' in socket ? socket._httpMessage : undefined
  return message instanceof ServerResponse && message.headersSent ? message : undefined
}

function rawAnswer(problem: Problem): string {
  const requestId = randomUUID()
  const body = problemBody(problem, { instance: '', requestId })
  const text = JSON.stringify(body)
  return [
    `HTTP/1.1 ${problem.status} ${body.title}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    '',
    text,
  ].join('\r\n')
}

/** A path without a route. */
const NOWHERE = '/nowhere'

/**
 * A client may send the whole URL (RFC 9112, 3.2.2). Text that is no URL would get past every middleware, because Express answers it
 * by itself.
 */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  if (!URL.canParse(target)) return NOWHERE
  const { pathname, search } = new URL(target)
  return pathname.startsWith('/') ? pathname + search : NOWHERE
}
