import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { z } from 'zod'

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
const unchanged = new WeakSet<Response>()

/** Whether the answer is one that the server had sent before: it cost neither chain nor disk. */
export function isUnchanged(res: Response): boolean {
  return unchanged.has(res)
}

export function sendPrepared(res: Response, prepared: Prepared): void {
  const { text, length, etag } = prepared
  if (sentBefore.has(prepared)) unchanged.add(res)
  else sentBefore.add(prepared)
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

/** Ends the response itself: `res.send` turns longer texts into a buffer, which is then written apart from the headers. */
function end(res: Response, text: string, length: number): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', length)
  res.end(text)
}
