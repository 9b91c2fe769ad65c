/** Where the page's files are. */
const FILES = '/docs'

/** The page at /docs. Swagger UI fills it; nothing in it is inline, so that its policy can forbid what is. */
export const PAGE = `<!doctype html>
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
 * The page's own script. It shows and does not call: the origin check would refuse what the page posts, and the relay's
 * token is not to be typed into a page. No validator elsewhere is asked.
 */
export const START_SCRIPT = `SwaggerUIBundle({
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
