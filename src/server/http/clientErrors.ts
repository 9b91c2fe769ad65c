import { randomUUID } from 'node:crypto'
import { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ProblemCode } from './problemCodes.js'
import { Problem, problemBody } from './problems.js'

/** Node's codes of a request that never became one; any other is a malformed request. */
const CODES = new Map<unknown, ProblemCode>([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
])

/** How long a caller has to take the rest of his last answer. */
const LINGER_MS = 2_000
/** In which a caller has to take some part of an answer that is under way. */
const UNREAD_MS = 10_000

/** The connections that are being hung up: whatever else they bring is read and dropped. */
const leaving = new WeakSet<Duplex>()

/** For a server's `clientError` event: answers with a problem body, as every other failure, and hangs up. */
export function answerClientError(error: Error, socket: Duplex): void {
  const gone = 'code' in error && error.code === 'ECONNRESET'
  if (!gone && leaving.has(socket)) return
  if (gone || !socket.writable) {
    socket.destroy()
    return
  }
  leaving.add(socket)
  const underWay = answerUnderWay(socket)
  if (underWay !== undefined) {
    // The request before this one may have its whole answer; a second one must not be written into it.
    underWay.once('finish', () => hangUp(socket))
    hangUpUnread(socket)
    return
  }
  const code = CODES.get('code' in error ? error.code : undefined) ?? 'malformed-request'
  hangUp(socket, rawAnswer(new Problem(code)))
}

/**
 * Ends the answers, and closes when the caller does or has had his time (RFC 9112, 9.6): a connection that is closed
 * while something comes in is reset, and what the caller has not taken yet is lost.
 */
function hangUp(socket: Duplex, lastAnswer = ''): void {
  socket.end(lastAnswer)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Each byte that comes in puts off the answer's own time limit, so a caller who sends on and takes nothing would never meet it. */
function hangUpUnread(socket: Duplex): void {
  let left = Number.POSITIVE_INFINITY
  const timer = setInterval(() => {
    if (socket.writableLength >= left) socket.destroy()
    left = socket.writableLength
  }, UNREAD_MS)
  socket.once('close', () => clearInterval(timer))
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
