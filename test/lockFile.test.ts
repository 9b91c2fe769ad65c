import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
})
const { packages } = lockSchema.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))

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
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  expect(entries.length).toBeGreaterThan(300)
  const unchecked = entries.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
  expect(unchecked.map(([path]) => path)).toEqual([])
})

test('no package comes from elsewhere than the registry', () => {
  const elsewhere = Object.entries(packages).filter(
    ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
  )
  expect(elsewhere.map(([path]) => path)).toEqual([])
})
