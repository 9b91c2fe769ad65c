import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Response, Router } from 'express'
import { methodNotAllowed, Problem } from '../http/errors.js'
import { describeApi } from './document.js'
import { ERRORS_PAGE, ERRORS_STYLE } from './pages.js'
import { type PageFile, pageFileSchema } from './schemas.js'

/** The API's description: as JSON at /openapi.json, as a page at /docs. The error codes: a page at /errors. */
export function createDocsRouter(version: string): Router {
  const router = Router({ caseSensitive: true, strict: true })
  let document: string | undefined

  router
    .route('/')
    .get((_req, res) => {
      // RFC 8631.
      res.setHeader('Link', `</openapi.json>; rel="service-desc", <${FILES}>; rel="service-doc"`)
      res.setHeader('Location', FILES)
      res.status(302).end()
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/openapi.json')
    .get((_req, res) => {
      document ??= JSON.stringify(describeApi(version))
      res.type('json').send(document)
    })
    .all(methodNotAllowed('GET'))

  for (const [path, html] of [
    ['/docs', PAGE],
    ['/errors', ERRORS_PAGE],
  ] as const) {
    router
      .route(path)
      .get((_req, res) => {
        res.setHeader('Content-Security-Policy', PAGE_POLICY)
        res.type('html').send(html)
      })
      .all(methodNotAllowed('GET'))
  }

  router
    .route('/docs/:file')
    .get((req, res) => {
      const file = pageFileSchema.safeParse(req.params.file)
      if (!file.success) throw new Problem('not-found')
      sendPageFile(res, file.data)
    })
    .all(methodNotAllowed('GET'))

  return router
}

/** Where the page's files are. */
const FILES = '/docs'

/** The page at /docs. Swagger UI fills it; it has no inline code, so that its policy can forbid it. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Confidential trading backend: the HTTP API</title>
<link rel="stylesheet" href="${FILES}/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<noscript>The description as JSON: <a href="/openapi.json">/openapi.json</a></noscript>
<script src="${FILES}/swagger-ui-bundle.js"></script>
<script src="${FILES}/start.js"></script>
</body>
</html>
`

/**
 * The page's own script. It shows and does not call. The origin check would refuse what the page posts, and no one should type the
 * relay's token into a page. No validator elsewhere is asked.
 */
const START_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [{ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } }],
})
`

/**
 * The page's files come from this server alone, and it may neither be framed nor send a form anywhere. Its images are
 * two arrows, written into Swagger UI's stylesheet.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';')

/** Where npm has put Swagger UI. */
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** Sends a file of the page, or 304. */
function sendPageFile(res: Response, file: PageFile): void {
  if (file === 'start.js') res.type('text/javascript').send(START_SCRIPT)
  else if (file === 'errors.css') res.type('text/css').send(ERRORS_STYLE)
  else res.sendFile(join(SWAGGER_UI, file), { cacheControl: false, acceptRanges: false, dotfiles: 'allow' })
}
