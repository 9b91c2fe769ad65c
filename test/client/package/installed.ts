import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
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
}

const manifestSchema = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()) })

/**
 * One such project per test file, without a request to a registry: the package's dependencies alone are linked from this
 * project's own packages. @param also further packages of the project
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
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', project])
  const [tarball = ''] = await readdir(project)
  await run('tar', ['-xzf', tarball], { cwd: project })
  const unpacked = join(project, 'package')
  const { name, dependencies } = manifestSchema.parse(
    JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')),
  )
  const path = join(project, 'node_modules', name)
  await mkdir(dirname(path), { recursive: true })
  await rename(unpacked, path)
  for (const dependency of [...Object.keys(dependencies), ...also]) await link(project, dependency)
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
  return { project, name, path, files }
}

async function link(project: string, dependency: string): Promise<void> {
  const at = join(project, 'node_modules', dependency)
  await mkdir(dirname(at), { recursive: true })
  await symlink(resolve('node_modules', dependency), at, 'dir')
}
