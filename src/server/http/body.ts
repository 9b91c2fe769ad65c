import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import * as z from 'zod'
import { JsonError, parseStrictJson } from '../../protocol/strictJson.js'
import { type FieldError, Problem } from './errors.js'

/**
 * Reads a JSON body into `req.body`, not yet parsed by a schema. Stands in the routes that accept a body, after every check of
 * the caller.
 *
 * Refuses another media type, charset or content encoding (415), more than `limitBytes` (413), and text that is not strict UTF-8
 * JSON (400). So a cross-origin "simple" form or text POST ends here, and nothing is inflated.
 *
 * @param admit checks the bytes before they are parsed, and throws for those that must not be
 */
export function jsonBody(limitBytes: number, admit: (raw: Buffer) => void = () => undefined): RequestHandler {
  return async (req, _res, next) => {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers
    if (!isJson(type) || encoding.toLowerCase() !== 'identity') throw new Problem('unsupported-media-type')
    const raw = await bytesOf(req, limitBytes)
    admit(raw)
    req.body = parseRaw(raw)
    next()
  }
}

/** `application/json`, with no parameter but `charset=utf-8` (RFC 8259 §11 defines none at all). */
function isJson(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (type.trim() !== 'application/json') return false
  return parameters.every((parameter) => /^\s*charset\s*=\s*("utf-8"|utf-8)\s*$/.test(parameter))
}

/** Networks cut a body into pieces of a thousand bytes and more. One of a single byte costs as much memory as two hundred. */
const [SMALL_PIECES, LEAST_BYTES] = [100, 512]

/** `express.raw` would answer a body that is too large only once all of it has come. */
async function bytesOf(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const arriving: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false })
  const pieces: Buffer[] = []
  let length = 0
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw new Problem('body-too-large')
  try {
    for await (const piece of arriving) {
      length += piece.length
      if (length > limitBytes) break
      // Node would go on to parse the pieces of one that only has an answer.
      if (pieces.push(piece) > SMALL_PIECES + length / LEAST_BYTES) req.socket.destroy()
    }
  } catch (error) {
    // The caller hung up.
    throw new Problem('malformed-request', { cause: error })
  }
  if (length <= limitBytes) return Buffer.concat(pieces)
  // Node reads the rest, and drops it.
  req.resume()
  throw new Problem('body-too-large')
}

function parseRaw(raw: Buffer): unknown {
  if (raw.length === 0) throw new Problem('malformed-json', { detail: 'The body is empty.' })
  if (!isUtf8(raw)) throw new Problem('malformed-json', { detail: 'The body is not UTF-8.' })
  try {
    return parseStrictJson(raw.toString('utf8'))
  } catch (error) {
    if (error instanceof JsonError) throw new Problem('malformed-json', { detail: error.message })
    throw error
  }
}

/** A hostile body can have thousands of faults; its answer names the first ones. */
const MAX_ERRORS = 20
const MAX_MESSAGE_LENGTH = 200

/** Parses a request's body with its schema. @throws Problem `invalid-body` with `errors: [{path, message}]` */
export function parseBody<T>(schema: z.core.$ZodType<T>, body: unknown): T {
  const result = z.safeParse(schema, body)
  if (result.success) return result.data
  throw new Problem('invalid-body', { extensions: { errors: fieldErrors(result.error) } })
}

/** Parses one path parameter. @throws Problem `invalid-parameter` with `errors: [{path: name, message}]` */
export function parseParam<T>(schema: z.core.$ZodType<T>, name: string, value: unknown): T {
  const result = z.safeParse(schema, value)
  if (result.success) return result.data
  const errors = fieldErrors(result.error).map(({ message }) => ({ path: name, message }))
  throw new Problem('invalid-parameter', { extensions: { errors } })
}

/** A schema's faults as the wire has them: a dotted path and a short message, each once though two checks may give it. */
export function fieldErrors(error: z.core.$ZodError): FieldError[] {
  const faults = new Map<string, FieldError>()
  for (const issue of error.issues) {
    if (faults.size === MAX_ERRORS) break
    const path = issue.path.map(String).join('.').slice(0, MAX_MESSAGE_LENGTH)
    const message = messageOf(issue).slice(0, MAX_MESSAGE_LENGTH)
    faults.set(JSON.stringify([path, message]), { path, message })
  }
  return [...faults.values()]
}

/** A name as our own members have it; a key, an amount or a ticker does not resemble one. */
const MEMBER_NAME = /^[a-z][A-Za-z]{0,31}$/

/** Never a caller's own text, which may be a secret in the wrong place: only those unknown members that resemble names. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message
  const names = issue.keys.filter((name) => MEMBER_NAME.test(name))
  return names.length === 0 ? 'unknown members' : `unknown members: ${names.join(', ')}`
}
