import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler } from 'express'
import { JsonError, parseStrictJson } from '../../protocol/strictJson.js'
import { Problem } from './problems.js'

/**
 * Reads a JSON body into `req.body`, still unparsed by any schema. Goes into the routes that take a body, after
 * whatever decides that the caller may send one.
 *
 * Refuses: another media type, charset or content encoding (415; a cross-origin "simple" form or text POST ends
 * here, and nothing is ever inflated), more than `limitBytes` (413), text that is not strict UTF-8 JSON (400).
 *
 * @param admit looks at the bytes before they are parsed, and throws for those that must not be
 */
export function jsonBody(
  limitBytes: number,
  admit: (raw: Buffer, req: Request) => void = () => undefined,
): RequestHandler {
  const readRaw = express.raw({ type: () => true, limit: limitBytes, inflate: false })
  return (req, res, next) => {
    if (!isJson(req.headers['content-type'] ?? '')) throw new Problem('unsupported-media-type')
    readRaw(req, res, (failure?: unknown) => {
      if (failure !== undefined) {
        next(failure)
        return
      }
      try {
        const raw: unknown = req.body
        // Without a body there is nothing to read.
        const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0)
        admit(bytes, req)
        req.body = parseRaw(bytes)
      } catch (error) {
        next(error)
        return
      }
      next()
    })
  }
}

/** `application/json`, with no parameter but `charset=utf-8` (RFC 8259 §11 defines none at all). */
function isJson(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (type.trim() !== 'application/json') return false
  return parameters.every((parameter) => /^\s*charset\s*=\s*("utf-8"|utf-8)\s*$/.test(parameter))
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
