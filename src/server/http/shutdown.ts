import type { RequestHandler } from 'express'
import { Problem } from './problems.js'

/** Refuses what still arrives on a kept-alive connection once the server is stopping, and ends the connection. */
export function refuseWhenStopping(stopping: AbortSignal): RequestHandler {
  return (_req, _res, next) => {
    if (stopping.aborted) throw new Problem('shutting-down', { headers: { Connection: 'close' } })
    next()
  }
}
