// npm run openapi: writes the API's description, as served at GET /openapi.json, to a file. openapi:check lints it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeApi } from '../src/server/openapi/document.js'
import { readVersion } from '../src/service/version.js'

const [file = 'data/openapi.json'] = process.argv.slice(2)
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(describeApi(readVersion()), null, 2)}\n`)
console.info(`wrote ${file}`)
