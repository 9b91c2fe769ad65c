import type { RequestHandler } from 'express'
import helmet from 'helmet'

/** An API has no page: nothing of it may be framed, run or cached without asking again. */
export function securityHeaders(): RequestHandler[] {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  })
  const revalidate: RequestHandler = (_req, res, next) => {
    res.setHeader('Cache-Control', 'private, no-cache')
    next()
  }
  return [protect, revalidate]
}
