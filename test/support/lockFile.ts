import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** An installed package. */
export interface Brought {
  /** Its path in a project, such as `node_modules/zod`. */
  readonly at: string
  readonly hasInstallScript: boolean
}

const dependencies = z.record(z.string(), z.string()).default({})
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies,
      optionalDependencies: dependencies,
      hasInstallScript: z.boolean().default(false),
    }),
  ),
})

/** The packages that npm installs for these names by this project's lock file: each where its dependent finds it. */
export function closureOf(names: readonly string[]): Brought[] {
  const { packages } = lockSchema.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))
  const found = new Map<string, Brought>()
  const visit = (name: string, from: string): void => {
    const at = join(from, 'node_modules', name)
    const entry = packages[at]
    if (entry === undefined) {
      if (from === '') throw new Error(`${name} is not in the lock file`)
      visit(name, from.slice(0, Math.max(0, from.lastIndexOf('node_modules') - 1)))
    } else if (!found.has(at)) {
      found.set(at, { at, hasInstallScript: entry.hasInstallScript })
      for (const each of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
        visit(each, at)
    }
  }
  for (const name of names) visit(name, '')
  return [...found.values()].sort((a, b) => a.at.length - b.at.length)
}
