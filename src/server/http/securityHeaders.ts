import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'

/** A middleware that needs nothing of Express. */
type WriteHeaders = (req: IncomingMessage, res: ServerResponse, next: () => void) => void

/**
 * What protects an answer that is no page (OWASP REST Security Cheat Sheet): it may not be framed, run, sniffed for
 * another type, embedded by another site, asked for over plain HTTP again, or cached without asking again. Headers
 * that only tell a browser how to treat a page are left out: every answer would carry them for nothing.
 */
export function securityHeaders(): WriteHeaders[] {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  })
  const revalidate: WriteHeaders = (_req, res, next) => {
    res.setHeader('Cache-Control', 'private, no-cache')
    next()
  }
  return [protect, revalidate]
}
