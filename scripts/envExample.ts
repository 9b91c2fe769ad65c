// Writes .env.example from the server's schema; with --check, fails when the file differs from it.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderEnvExample } from '../src/server/envExample.js'

const path = new URL('../.env.example', import.meta.url)
const expected = renderEnvExample()

if (!process.argv.includes('--check')) {
  writeFileSync(path, expected)
} else if (readFileSync(path, 'utf8') !== expected) {
  console.error('.env.example differs from the schema: run `npm run env`.')
  process.exit(1)
}
