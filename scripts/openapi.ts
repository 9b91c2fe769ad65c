// Writes what is made from the tables of src/server and of scripts/openapi: docs/errors.md, the client's list of its codes, the routes of
// docs/api.md, and the API's description in dist, whose document it lints. With --check, fails if a file in git differs.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PAGES } from '../src/server/openapi/router.js'
import { type GeneratedFile, writeOrCheck } from './generated.js'
import { errorCodesModule, errorsMarkdown, routesTable, writePages } from './openapi/pages.js'

const ROUTES = /(?<=<!-- routes: npm run openapi -->\n)[\s\S]*?(?=<!-- end -->)/

const pages: GeneratedFile[] = [
  ['docs/errors.md', errorsMarkdown],
  ['src/client/serverErrorCodes.ts', errorCodesModule],
  ['docs/api.md', (present) => present.replace(ROUTES, () => `\n${routesTable()}\n`)],
]

writeOrCheck(pages, 'its tables', 'npm run openapi')
writePages()

const redocly = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const lint = spawnSync(process.execPath, [redocly, 'lint', join(PAGES, 'openapi.json')], {
  stdio: 'inherit',
  env: { ...process.env, ...quiet },
})
if (lint.status !== 0) process.exitCode = 1
