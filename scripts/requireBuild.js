// Runs before a program of dist/ starts: a fresh clone has no build yet.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../dist/server/main.js', import.meta.url))) {
  console.error('Not built yet: run `npm ci && npm run build` first.')
  process.exitCode = 1
}
