import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler } from 'express'
import { Problem } from './problems.js'
import { JsonError, parseStrictJson } from './strictJson.js'

/**
 * Reads a JSON body into `req.body`, still unparsed by any schema. Goes into the routes that take a body, after
 * whatever decides that the caller may send one.
 *
 * Refuses: another media type, charset or content encoding (415; a cross-origin "simple" form or text POST ends
 * here, and nothing is ever inflated), more than `limitBytes` (413), text that is not strict UTF-8 JSON (400).
 */
export function jsonBody(limitBytes: number): RequestHandler[] {
  const readRaw = express.raw({ type: () => true, limit: limitBytes, inflate: false })
  return [requireJson, readRaw, parse]
}

const requireJson: RequestHandler = (req, _res, next) => {
  if (!isJson(req)) throw new Problem('unsupported-media-type')
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported-media-type', { detail: 'Send the body without a Content-Encoding.' })
  }
  next()
}

/** `application/json`, with no parameter but `charset=utf-8` (RFC 8259 §11 defines none at all). */
function isJson(req: Request): boolean {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() !== 'application/json') return false
  return parameters.every((parameter) => /^\s*charset\s*=\s*("utf-8"|utf-8)\s*$/.test(parameter))
}

const parse: RequestHandler = (req, _res, next) => {
  const raw: unknown = req.body
  if (!Buffer.isBuffer(raw) || raw.length === 0) {
    throw new Problem('malformed-json', { detail: 'The body is empty.' })
  }
  if (!isUtf8(raw)) throw new Problem('malformed-json', { detail: 'The body is not UTF-8.' })
  try {
    req.body = parseStrictJson(raw.toString('utf8'))
  } catch (error) {
    if (error instanceof JsonError) throw new Problem('malformed-json', { detail: error.message })
    throw error
  }
  next()
}
