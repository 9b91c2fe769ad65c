// Writes the env examples and the README's table from the schemas that read them; with --check, fails when one differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderEnvExample as renderEnclave } from '../src/enclave/envExample.js'
import { renderConfigurationTable, renderEnvExample as renderServer } from '../src/server/envExample.js'

const TABLE = /(?<=<!-- configuration: npm run env -->\n)[\s\S]*?(?=<!-- end -->)/

const files: [file: string, rendered: (present: string) => string][] = [
  ['.env.example', renderServer],
  ['.env.enclave.example', renderEnclave],
  ['README.md', (present) => present.replace(TABLE, `\n${renderConfigurationTable()}\n\n`)],
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
