import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Response } from 'express'
import { z } from 'zod'
import { instanceOf, type Problem, problemBody } from './errors.js'
import { chooseRequestId, readableBy, securityHeaders } from './middleware.js'

export interface Prepared {
  readonly text: string
  /** In bytes. */
  readonly length: number
  readonly etag: string
}

/**
 * Makes the text and the ETag of a value that many requests get. They are made once for the very same object, and kept as long as
 * that is: a schema that checks addresses hashes each of them.
 */
export function preparing<T extends object>(schema: z.ZodType<T>): (value: T) => Prepared {
  const known = new WeakMap<T, Prepared>()
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    const prepared = prepare(z.encode(schema, value))
    known.set(value, prepared)
    return prepared
  }
}

/** The ETag is weak, as Express's own are: it stands for the value, not for the bytes of one content encoding. */
function prepare(encoded: unknown): Prepared {
  const text = JSON.stringify(encoded)
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`
  return { text, length: Buffer.byteLength(text), etag }
}

const sentBefore = new WeakSet<Prepared>()
const unchanged = new WeakSet<ServerResponse>()

/** Whether the answer is one that the server had sent before: it cost neither chain nor disk. */
export function isUnchanged(res: ServerResponse): boolean {
  return unchanged.has(res)
}

/** To be called as the answer is sent, so that `isUnchanged` can tell. */
export function noteSent(res: ServerResponse, prepared: Prepared): void {
  if (sentBefore.has(prepared)) unchanged.add(res)
  else sentBefore.add(prepared)
}

export function sendPrepared(res: Response, prepared: Prepared): void {
  const { text, length, etag } = prepared
  noteSent(res, prepared)
  res.setHeader('ETag', etag)
  if (res.req.fresh) res.status(304).end()
  else end(res, text, length)
}

/**
 * Answers a POST without the ETag that Express would add: no later request can ask for the same answer.
 */
export function sendUntagged(res: Response, encoded: object): void {
  const text = JSON.stringify(encoded)
  end(res, text, Buffer.byteLength(text))
}

export const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' }

/** Ends the response itself: `res.send` turns longer texts into a buffer, which is then written apart from the headers. */
function end(res: Response, text: string, length: number): void {
  res.setHeader('Content-Type', JSON_TYPE['Content-Type'])
  res.setHeader('Content-Length', length)
  res.end(text)
}

/**
 * Answers a request with a problem before Express has seen it.
 *
 * @param headers those of this answer alone
 * @param requestId of the request, where it has one by now
 */
type SendProblem = (
  req: IncomingMessage,
  res: ServerResponse,
  problem: Problem,
  headers: Readonly<Record<string, string>>,
  requestId?: string,
) => void

/**
 * Its answers have the same headers and body as the app's own problems, and cost a fraction, because their common part is made
 * once.
 *
 * @param frontendOrigin the one origin whose pages may read them
 */
export function createSendProblem(frontendOrigin: string): SendProblem {
  const common = {
    ...headersOfEveryAnswer(),
    // In lower case, as those are: a name in two spellings would be sent twice.
    vary: 'Origin',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json; charset=utf-8',
  }
  const readable = readableBy(frontendOrigin)
  return (req, res, problem, headers, requestId = chooseRequestId(req.headers['x-request-id'])) => {
    const text = JSON.stringify(problemBody(problem, { instance: instanceOf(req.url ?? ''), requestId }))
    res.writeHead(problem.status, {
      'X-Request-Id': requestId,
      ...common,
      ...(req.headers.origin === frontendOrigin && readable),
      ...problem.headers,
      ...headers,
      'content-length': Buffer.byteLength(text),
    })
    res.end(text)
  }
}

/** The headers that the app's middleware writes into each answer, read from an answer that is never sent. */
export function headersOfEveryAnswer() {
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  for (const write of securityHeaders()) write(req, res, () => undefined)
  return res.getHeaders()
}
