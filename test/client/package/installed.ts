import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import * as z from 'zod'
import { type Brought, closureOf } from '../../support/lockFile.js'

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

const manifestSchema = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()) })

const WORKSPACE = 'confidential-trading-client'

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
  // `npm test` builds first; a single file does not.
  if (!existsSync('packages/client/dist'))
    throw new Error('build the package first: `npm run build && npm run build:client`')
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
  const brought = closureOf(Object.keys(dependencies))
  for (const { at } of brought) {
    await mkdir(dirname(join(project, at)), { recursive: true })
    await cp(resolve(at), join(project, at), { recursive: true })
  }
  for (const dependency of also) {
    const at = join(project, 'node_modules', dependency)
    await mkdir(dirname(at), { recursive: true })
    await symlink(resolve('node_modules', dependency), at, 'dir')
  }
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
  return { project, name, path, files, brought }
}
