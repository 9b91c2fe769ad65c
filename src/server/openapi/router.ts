import { fileURLToPath } from 'node:url'
import { type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { INSTALLATION } from '../../service/version.js'
import { methodNotAllowed, Problem } from '../http/errors.js'

/** The file that the build writes the API's description into. */
export const PAGES = fileURLToPath(new URL('dist/server/docs/', INSTALLATION))

/** The files that the pages at /docs and /errors load. */
export const pageFileSchema = z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'errors.css'])

/** The API's description: as JSON at /openapi.json, as a page at /docs. The error codes: a page at /errors. */
export function createDocsRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })

  const get = (path: string, answer: RequestHandler) =>
    router.route(path).get(answer).all(methodNotAllowed('GET'))

  get('/', (_req, res) => {
    // RFC 8631.
    res.setHeader('Link', '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"')
    res.setHeader('Location', '/docs')
    res.status(302).end()
  })
  get('/openapi.json', (_req, res) => sendBuilt(res, 'openapi.json'))
  get('/docs', (_req, res) => sendBuilt(res, 'docs.html'))
  get('/errors', (_req, res) => sendBuilt(res, 'errors.html'))
  get('/docs/:file', (req, res) => {
    const file = pageFileSchema.safeParse(req.params.file)
    if (!file.success) throw new Problem('not-found')
    sendBuilt(res, file.data)
  })
  return router
}

/**
 * The policy of the two pages. Their files come from this server alone, and they may neither be framed nor send a form anywhere. Their
 * images are two arrows, written into Swagger UI's stylesheet.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';')

/** Sends a file that the build has written, or 304. */
function sendBuilt(res: Response, file: string): void {
  if (file.endsWith('.html')) res.setHeader('Content-Security-Policy', PAGE_POLICY)
  res.sendFile(file, { root: PAGES, cacheControl: false, acceptRanges: false })
}
