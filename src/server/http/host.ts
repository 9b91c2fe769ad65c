import type { RequestHandler } from 'express'
import { hostFault } from '../../service/hostField.js'
import { Problem } from './problems.js'

/** Refuses a request whose `Host` is missing, repeated or invalid. */
export function requireHost(): RequestHandler {
  return (req, _res, next) => {
    const detail = hostFault(req)
    if (detail !== undefined) throw new Problem('malformed-request', { detail })
    next()
  }
}
