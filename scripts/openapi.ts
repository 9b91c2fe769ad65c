// Writes what is made from the tables of src/server: docs/errors.md, the routes of docs/api.md, and the document of GET /openapi.json
// as data/openapi.json, which is not in Git and which it lints. With --check, fails if a page differs.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeApi } from '../src/server/openapi/document.js'
import { errorsMarkdown, routesTable } from '../src/server/openapi/pages.js'
import { readVersion } from '../src/service/version.js'
import { type GeneratedFile, writeOrCheck } from './generated.js'

const ROUTES = /(?<=<!-- routes: npm run openapi -->\n)[\s\S]*?(?=<!-- end -->)/

const pages: GeneratedFile[] = [
  ['docs/errors.md', errorsMarkdown],
  ['docs/api.md', (present) => present.replace(ROUTES, () => `\n${routesTable()}\n`)],
]

writeOrCheck(pages, 'the tables of src/server', 'npm run openapi')

const document = new URL('../data/openapi.json', import.meta.url)
mkdirSync(new URL('.', document), { recursive: true })
writeFileSync(document, `${JSON.stringify(describeApi(readVersion()), null, 2)}\n`)

const redocly = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const lint = spawnSync(process.execPath, [redocly, 'lint', fileURLToPath(document)], {
  stdio: 'inherit',
  env: { ...process.env, ...quiet },
})
if (lint.status !== 0) process.exitCode = 1
