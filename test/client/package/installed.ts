import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'

export const run = promisify(execFile)

/** A project of its own with this package in it, as npm packs it. */
export interface Installed {
  /** The project's directory. */
  readonly project: string
  /** The package's name, and where it is. */
  readonly name: string
  readonly path: string
  /** Every file of the package, by its path in it. */
  readonly files: readonly string[]
  /** The packages that come along, their own dependencies included. */
  readonly brought: readonly Brought[]
}

interface Brought {
  /** Its path in a project, such as `node_modules/zod`. */
  readonly at: string
  readonly hasInstallScript: boolean
}

const manifestSchema = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()) })

const WORKSPACE = 'confidential-trading-client'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: z.record(z.string(), z.string()).default({}),
      hasInstallScript: z.boolean().default(false),
    }),
  ),
})

/**
 * One such project per test file, without a request to a registry: the package, and those that it brings by this
 * project's lock file, are copied from this project's own. @param also further packages, linked
 */
export function useInstalledPackage(also: readonly string[] = []): () => Installed {
  let installed: Installed | undefined
  beforeAll(async () => {
    // The real path: a compiler resolves links, and then names files by where they are.
    const project = await realpath(await mkdtemp(join(tmpdir(), 'consumer-')))
    installed = await install(project, also)
  })
  afterAll(() => installed && rm(installed.project, { recursive: true, force: true }))
  return () => {
    if (!installed) throw new Error('the package is installed before the first test, not before')
    return installed
  }
}

async function install(project: string, also: readonly string[]): Promise<Installed> {
  // The build is there already: `npm test` builds first.
  await run('npm', ['pack', '-w', WORKSPACE, '--ignore-scripts', '--pack-destination', project])
  const [tarball = ''] = await readdir(project)
  await run('tar', ['-xzf', tarball], { cwd: project })
  const unpacked = join(project, 'package')
  const { name, dependencies } = manifestSchema.parse(
    JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')),
  )
  const path = join(project, 'node_modules', name)
  await mkdir(dirname(path), { recursive: true })
  await rename(unpacked, path)
  const brought = await closureOf(Object.keys(dependencies))
  for (const { at } of brought) {
    await mkdir(dirname(join(project, at)), { recursive: true })
    await cp(resolve(at), join(project, at), { recursive: true })
  }
  for (const dependency of also) await link(project, dependency)
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
  return { project, name, path, files, brought }
}

async function link(project: string, dependency: string): Promise<void> {
  const at = join(project, 'node_modules', dependency)
  await mkdir(dirname(at), { recursive: true })
  await symlink(resolve('node_modules', dependency), at, 'dir')
}

/** What npm installs for these names: each package at the nearest place where its dependent finds it. */
async function closureOf(names: readonly string[]): Promise<Brought[]> {
  const { packages } = lockSchema.parse(JSON.parse(await readFile('package-lock.json', 'utf8')))
  const found = new Map<string, Brought>()
  const visit = (name: string, from: string): void => {
    const at = join(from, 'node_modules', name)
    const entry = packages[at]
    if (entry === undefined) {
      if (from === '') throw new Error(`${name} is not in the lock file`)
      visit(name, from.slice(0, Math.max(0, from.lastIndexOf('node_modules') - 1)))
    } else if (!found.has(at)) {
      found.set(at, { at, hasInstallScript: entry.hasInstallScript })
      for (const each of Object.keys(entry.dependencies)) visit(each, at)
    }
  }
  for (const name of names) visit(name, '')
  return [...found.values()].sort((a, b) => a.at.length - b.at.length)
}
