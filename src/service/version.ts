import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** The oldest Node that the programs run on; `engines` in package.json says the same. */
export const OLDEST_NODE = 24

/** Exits when the Node is too old. Call it first: an older Node would fail later, with an obscure error. */
export function requireNode(): void {
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE) return
  process.stderr.write(
    `This program needs Node ${OLDEST_NODE} or newer, and ${process.execPath} is ${process.version}.\n` +
      'npm ci installs a newer one for this repository; npm run and node_modules/.bin/node use it.\n',
  )
  process.exit(1)
}

const packageSchema = z.object({ version: z.string() })

/**
 * The directory of package.json and `dist`. It is two folders above this module, in src/ and dist/, and above the bundle that holds
 * it, such as `dist/server/main.js`.
 */
export const INSTALLATION = new URL('../../', import.meta.url)

/** The package's version. */
export function readVersion(): string {
  const text = readFileSync(new URL('package.json', INSTALLATION), 'utf8')
  return packageSchema.parse(JSON.parse(text)).version
}
