import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * A compiled program or module, by its path in `dist`. The server starts a thread from a file of its own, which Node
 * cannot run as TypeScript, so it is tested as a process the way it is shipped: `npm test` builds first.
 */
export function built(path: string): string {
  const file = fileURLToPath(new URL(`../../dist/${path}`, import.meta.url))
  if (!existsSync(file)) throw new Error(`${path} is not built: run \`npm run build\` first`)
  return file
}
