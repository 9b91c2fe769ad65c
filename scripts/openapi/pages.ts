import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '../../src/server/http/problemCodes.js'
import { PAGES } from '../../src/server/openapi/router.js'
import { readVersion } from '../../src/service/version.js'
import { describeApi } from './document.js'
import { EXPLANATIONS } from './explanations.js'
import { OPERATIONS } from './operations.js'

/** The table of docs/api.md: a row for each operation. */
export function routesTable(): string {
  const rows = OPERATIONS.map(({ method, path, summary }) => [`\`${method.toUpperCase()} ${path}\``, summary])
  const width = Math.max(...rows.map(([route = '']) => route.length))
  const summaryWidth = Math.max(...rows.map(([, summary = '']) => summary.length))
  const line = (route = '', summary = '') => `| ${route.padEnd(width)} | ${summary.padEnd(summaryWidth)} |\n`
  const rule = line('-'.repeat(width), '-'.repeat(summaryWidth))
  return [line('Route', 'Purpose'), rule, ...rows.map(([route, summary]) => line(route, summary))].join('')
}

/** The text before the codes, a paragraph each. Backticks enclose code. */
const INTRODUCTION = [
  "A program branches on `code`, whose meaning never changes. `type` is the address of the code's section, at `/errors` of the server that answered.",
  "`requestId` is the `X-Request-Id` of the answer, and of every log line of the request. `instance` is the path, or empty for a path that is not the API's: an answer never repeats an unknown path. Some codes have further members; their sections name them. A 503 has `Retry-After` in seconds.",
  'Which route answers which code: `/docs` of a running server, or `/openapi.json`. Errors hold no confidential value: only the employee learns, sealed, why an order was refused.',
]

const EXAMPLE: ProblemCode = 'order-not-found'

/** A problem as it travels. */
function exampleText(): string {
  const { title, status, remedy } = PROBLEMS[EXAMPLE]
  const where = { instance: '/orders/0x…', code: EXAMPLE, requestId: '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0' }
  return JSON.stringify({ type: `/errors#${EXAMPLE}`, title, status, detail: remedy, ...where }, null, 2)
}

/** docs/errors.md. */
export function errorsMarkdown(): string {
  const sections = PROBLEM_CODES.map((code) => {
    const { status, title, remedy, meaning, cause } = { ...PROBLEMS[code], ...EXPLANATIONS[code] }
    return `## ${code}\n\n${status} ${title}. ${meaning}\n\n- Typical cause: ${cause}\n- What to do: ${remedy}\n`
  })
  const head = `# Errors

Every failure is answered as \`application/problem+json\` (RFC 9457):

\`\`\`json
${exampleText()}
\`\`\`

${INTRODUCTION.join('\n\n')}
`
  return [head, ...sections].join('\n')
}

/** The codes of docs/errors.md for the client library, which imports nothing of the server. */
export function errorCodesModule(): string {
  const lines = PROBLEM_CODES.map((code) => `  '${code}',\n`)
  return `// Made by \`npm run openapi\` from the table of docs/errors.md.
/** The codes of the server's problems. */
export const SERVER_ERROR_CODES = [
${lines.join('')}] as const
`
}

/** Escapes a text for HTML; what stands between backticks becomes code. */
function htmlOf(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  return escaped.replace(/`([^`]*)`/g, '<code>$1</code>')
}

/** The page at /errors. */
function errorsPage(): string {
  const sections = PROBLEM_CODES.map((code) => {
    const { status, title, remedy, meaning, cause } = { ...PROBLEMS[code], ...EXPLANATIONS[code] }
    return `<section id="${code}">
<h2><a href="#${code}">${code}</a></h2>
<p><strong>${status} ${htmlOf(title)}.</strong> ${htmlOf(meaning)}</p>
<dl>
<dt>Typical cause</dt><dd>${htmlOf(cause)}</dd>
<dt>What to do</dt><dd>${htmlOf(remedy)}</dd>
</dl>
</section>
`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Confidential trading backend: error codes</title>
<link rel="stylesheet" href="/docs/errors.css">
</head>
<body>
<main>
<h1>Error codes</h1>
<p>Every failure is answered as <code>application/problem+json</code> (RFC 9457). The routes are at <a href="/docs">/docs</a>.</p>
<pre><code>${htmlOf(exampleText())}</code></pre>
${INTRODUCTION.map((text) => `<p>${htmlOf(text)}</p>`).join('\n')}
${sections.join('')}</main>
</body>
</html>
`
}

/** Writes the files that the server's router of the documentation sends. */
export function writePages(): void {
  const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  mkdirSync(PAGES, { recursive: true })
  cpSync(fileURLToPath(new URL('pages', import.meta.url)), PAGES, { recursive: true })
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    cpSync(join(swaggerUi, file), join(PAGES, file))
  writeFileSync(join(PAGES, 'errors.html'), errorsPage())
  writeFileSync(join(PAGES, 'openapi.json'), JSON.stringify(describeApi(readVersion())))
}
