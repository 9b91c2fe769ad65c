// Writes the two env examples from the schemas that read them; with --check, fails when a file differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderEnvExample as renderEnclave } from '../src/enclave/envExample.js'
import { renderEnvExample as renderServer } from '../src/server/envExample.js'

const examples: [file: string, expected: string][] = [
  ['.env.example', renderServer()],
  ['.env.enclave.example', renderEnclave()],
]

for (const [file, expected] of examples) {
  const path = new URL(`../${file}`, import.meta.url)
  if (!process.argv.includes('--check')) {
    writeFileSync(path, expected)
  } else if (readFileSync(path, 'utf8') !== expected) {
    console.error(`${file} differs from the schema: run \`npm run env\`.`)
    process.exitCode = 1
  }
}
