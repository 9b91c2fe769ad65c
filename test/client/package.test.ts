// The client as others get it: packed by npm, and used in a project of its own.
import { readFile, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ClientError } from '../../src/client/index.js'
import { run, useInstalledPackage } from './package/installed.js'
import { compile } from './package/typeScript.js'

const installed = useInstalledPackage()

/** Two runs of a compiler, on a machine that may be busy. */
const COMPILING_MS = 180_000

/** A page's code that uses the client. */
const PAGE = `
import type { Signer } from 'ethers'
import {
  type Client, ClientError, createClient, createReader, formatDecimal, type MarketView, parseDecimal, type Portfolio,
  ServerError, USDC_DECIMALS,
} from 'confidential-trading-client'

export const connect = (wallet: Signer): Client => createClient({ serverUrl: location.origin, wallet })
export const reader = createReader({ serverUrl: location.origin })
export const market: Promise<MarketView> = reader.getMarket()
export const cashOf = ({ cash }: Portfolio): string => formatDecimal(cash, USDC_DECIMALS)
export const amount: bigint = parseDecimal('1.5', USDC_DECIMALS)
export const codeOf = (error: unknown) => error instanceof ClientError || error instanceof ServerError ? error.code : null
`
/** A program that must not compile: if it did, the types would admit anything. */
const WRONG = `
import { createClient, parseDecimal } from 'confidential-trading-client'
createClient({ serverUrl: 'https://example.com' })
export const amount: string = parseDecimal('1.5', 6)
export * from 'confidential-trading-client/dist/client/http.js'
`

const manifestSchema = z.object({ version: z.string(), dependencies: z.record(z.string(), z.string()) })

/** The packages of an installation: the client's six dependencies, and what ethers brings. */
const BROUGHT = [
  '@adraffy/ens-normalize',
  '@noble/curves',
  '@noble/curves/node_modules/@noble/hashes',
  '@noble/hashes',
  '@noble/secp256k1',
  'aes-js',
  'canonicalize',
  'ethers',
  'ethers/node_modules/@noble/hashes',
  'ethers/node_modules/@types/node',
  'ethers/node_modules/undici-types',
  'ethers/node_modules/ws',
  'is-network-error',
  'tslib',
  'zod',
]

it('the npm package is the client and the parts of the floors that it needs, without maps, sources or tests', () => {
  const folders = new Set(installed().files.map((file) => file.split('/').slice(0, 2).join('/')))
  expect([...folders].sort()).toEqual([
    'README.md',
    'dist/chain',
    'dist/client',
    'dist/protocol',
    'package.json',
  ])
  const others = installed().files.filter((file) => file.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(file))
  expect(others).toEqual([])
})

it('the npm package brings what a frontend needs and nothing else: few packages, and no script at their installation', () => {
  const { brought } = installed()
  expect(brought.map(({ at }) => at.slice('node_modules/'.length)).sort()).toEqual(BROUGHT)
  expect(brought.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
})

it('the npm package asks for the versions that the rest of the project is tested with', async () => {
  const manifest = async (path: string) => manifestSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  const [client, whole] = await Promise.all([
    manifest('packages/client/package.json'),
    manifest('package.json'),
  ])
  expect(whole.dependencies).toMatchObject(client.dependencies)
  expect(client.version).toBe(whole.version)
})

it('the npm package has every file that one of its files names', async () => {
  const { files, path } = installed()
  const named = await Promise.all(
    files
      .filter((file) => file.startsWith('dist/'))
      .map(async (file) => {
        const text = await readFile(join(path, file), 'utf8')
        const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g)]
        return specifiers.map(([, specifier = '']) => {
          const target = posix.join(posix.dirname(file), specifier)
          return file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
        })
      }),
  )
  expect(named.flat().length).toBeGreaterThan(files.length)
  expect([...new Set(named.flat())].filter((target) => !files.includes(target))).toEqual([])
})

describe('its README', () => {
  const textOf = () => readFile(join(installed().path, 'README.md'), 'utf8')

  /** Where links lead that are no addresses on the web. Text in code is no link. */
  function targetsIn(text: string): string[] {
    const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/^\[[^\]]+\]: (\S+)/gm)]
    return links.map(([, target = '']) => target).filter((target) => !/^https?:/.test(target))
  }

  it('leads to places that are in the package, or on the web', async () => {
    const text = await textOf()
    const anchors = new Set([
      ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
      ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-')),
    ])
    const isThere = (target: string) =>
      target.startsWith('#') ? anchors.has(target.slice(1)) : installed().files.includes(target)
    expect(targetsIn(text).filter((target) => !isThere(target))).toEqual([])
    // The page that it is made of has such links.
    expect(targetsIn(await readFile('docs/client.md', 'utf8')).some((target) => !isThere(target))).toBe(true)
  })

  it('has the page that each failure names', async () => {
    const text = await textOf()
    const { docs } = new ClientError('not-submitted', '')
    expect(docs).toBe('confidential-trading-client/README.md#not-submitted')
    expect(text).toContain('<a id="not-submitted"></a>')
  })
})

it('the package in another project is imported by Node', async () => {
  const { name, project } = installed()
  const script = `console.log(Object.keys(await import('${name}')).join())`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: project })
  expect(stdout.split(',')).toEqual(expect.arrayContaining(['ClientError', 'createClient', 'createReader']))
})

it.each(['bundler', 'nodenext'] as const)(
  'the package in another project has its types when resolved by %s',
  { timeout: COMPILING_MS },
  async (resolution) => {
    const { project } = installed()
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
    await writeFile(join(project, 'page.ts'), PAGE)
    await writeFile(join(project, 'wrong.ts'), WRONG)
    const refused = await compile(project, ['page.ts', 'wrong.ts'], { resolution })
    // Indented lines belong to the error above them.
    const errors = refused.split('\n').filter((line) => /^\S/.test(line))
    expect(errors.map((line) => line.split(',')[0])).toEqual([3, 4, 5].map((line) => `wrong.ts(${line}`))
  },
)
