// Writes the env examples and the table in docs/configuration.md from their schemas. With --check, fails if one
// differs.
import { readFileSync, writeFileSync } from 'node:fs'
import * as enclave from '../src/enclave/configSchema.js'
import * as server from '../src/server/config/schema.js'
import { renderConfigurationTable, renderEnvExample } from '../src/service/config.js'

const TABLE = /(?<=<!-- configuration: npm run env -->\n)[\s\S]*?(?=<!-- end -->)/

const files: [file: string, rendered: (present: string) => string][] = [
  ['.env.example', () => renderEnvExample(server.ENV_EXAMPLE_HEADER, server.environmentSchema)],
  ['.env.enclave.example', () => renderEnvExample(enclave.ENV_EXAMPLE_HEADER, enclave.environmentSchema)],
  [
    'docs/configuration.md',
    (present) => present.replace(TABLE, `\n${renderConfigurationTable(server.environmentSchema)}\n\n`),
  ],
]

for (const [file, rendered] of files) {
  const path = new URL(`../${file}`, import.meta.url)
  const present = readFileSync(path, 'utf8')
  const expected = rendered(present)
  if (!process.argv.includes('--check')) {
    writeFileSync(path, expected)
  } else if (present !== expected) {
    console.error(`${file} differs from the schema: run \`npm run env\`.`)
    process.exitCode = 1
  }
}
