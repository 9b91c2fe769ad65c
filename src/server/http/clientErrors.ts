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

/** For a server's `clientError` event: answers with a problem body, as every other failure, and hangs up. */
export function answerClientError(error: Error, socket: Duplex): void {
  const gone = 'code' in error && error.code === 'ECONNRESET'
  if (gone || !socket.writable) {
    socket.destroy()
    return
  }
  const underWay = answerUnderWay(socket)
  if (underWay !== undefined) {
    // The request before this one may have its whole answer; a second one must not be written into it.
    underWay.once('finish', () => socket.end())
    return
  }
  const code = CODES.get('code' in error ? error.code : undefined) ?? 'malformed-request'
  socket.end(rawAnswer(new Problem(code)))
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
