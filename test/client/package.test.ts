// The client as others get it: packed by npm, used in a project of its own, bundled for a page, and as its examples call it.
// test/e2e/clientExample.test.ts runs the first example and the starter.
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import whole from '../../package.json' with { type: 'json' }
import own from '../../packages/client/package.json' with { type: 'json' }
import { clientReports } from '../../scripts/clientApi/report.js'
import * as admin from '../../src/client/admin.js'
import * as history from '../../src/client/history.js'
import * as library from '../../src/client/index.js'
import * as operator from '../../src/client/operator.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { bundle, FIGURES, keep, readKept, type Size } from './package/bundle.js'
import { exampleHead, sourceExamples, writeExamples } from './package/examples.js'
import { run, useInstalledPackage } from './package/installed.js'
import { WITH_ATTESTATION, WITH_ETHERS, WITH_REACT, WITH_VIEM, WRONG } from './package/pages.js'
import { compile } from './package/typeScript.js'

const installed = useInstalledPackage(['@types/node', '@types/react', 'viem'])
const page = readFileSync('docs/client.md', 'utf8')

/** A run of a compiler, or two, on a machine that may be busy. */
const COMPILING_MS = 180_000

/** The packages of an installation: the client's six dependencies, and what ethers brings. */
const BROUGHT = [
  ...['@adraffy/ens-normalize', '@noble/curves', '@noble/curves/node_modules/@noble/hashes', '@noble/hashes'],
  ...['@noble/secp256k1', 'aes-js', 'canonicalize', 'ethers', 'ethers/node_modules/@noble/hashes'],
  ...['ethers/node_modules/@types/node', 'ethers/node_modules/undici-types', 'ethers/node_modules/ws'],
  ...['is-network-error', 'tslib', 'zod'],
]

it('the npm package is the client and the parts of the floors that it needs, without maps, sources or tests', () => {
  const folders = new Set(installed().files.map((file) => file.split('/').slice(0, 2).join('/')))
  const dist = ['attestation', 'chain', 'client', 'protocol'].map((folder) => `dist/${folder}`)
  expect([...folders].sort()).toEqual(['CHANGELOG.md', 'README.md', ...dist, 'package.json'])
  const others = installed().files.filter((file) => file.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(file))
  expect(others).toEqual([])
})

it('the npm package brings what a frontend needs and nothing else: few packages, and no script at their installation', () => {
  const { brought } = installed()
  expect(brought.map(({ at }) => at.slice('node_modules/'.length)).sort()).toEqual(BROUGHT)
  expect(brought.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
})

it('the npm package asks for the versions that the rest of the project is tested with', () => {
  expect(whole.dependencies).toMatchObject(own.dependencies)
  expect(own.version).toBe(whole.version)
})

it('the public types are those of packages/client/api, which `npm run client-api` writes', async () => {
  for (const [path, text] of clientReports()) expect(await readFile(path, 'utf8'), path).toBe(text)
})

it('npm publishes it only once the owner has chosen a licence, and says what is missing', async () => {
  const project = await temporaryDirectory()
  const script = resolve('packages/client/mayPublish.js')
  const publish = async (manifest: object, env = {}) => {
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
    return run(process.execPath, [script], { cwd: project, env }).then(
      () => 'published',
      ({ stderr }: { stderr: string }) => stderr,
    )
  }
  expect(own).toMatchObject({ scripts: { prepublishOnly: 'node mayPublish.js' }, license: 'UNLICENSED' })
  expect(await publish(own)).toContain('a licence')
  await writeFile(join(project, 'LICENSE'), 'a licence')
  const chosen = { ...own, license: 'MIT', repository: 'github:a/b' }
  expect(await publish(chosen, { GITHUB_ACTIONS: 'true' })).toBe('published')
  await rm(join(project, 'LICENSE'))
  expect(await publish(chosen, { GITHUB_ACTIONS: 'true' })).toContain('packages/client/LICENSE')
})

const textOf = (file: string) => readFile(join(installed().path, file), 'utf8')

it('the npm package’s changelog is what CHANGELOG.md says of the client library', async () => {
  const text = await textOf('CHANGELOG.md')
  expect(text).toContain('\n## [0.1.0]')
  expect(text).toContain('- **Client library: wallet.**')
  expect(text).not.toContain('.env.enclave')
})

/** Where links lead that are no addresses on the web. Text in code is no link. */
function targetsIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code')
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/^\[[^\]]+\]: (\S+)/gm)]
  return links.map(([, target = '']) => target).filter((target) => !/^https?:/.test(target))
}

it('the npm package’s README leads to places that are in the package, or on the web, and has the place that a failure names', async () => {
  const text = await textOf('README.md')
  const anchors = new Set([
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
    ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-')),
  ])
  const isThere = (target: string) =>
    target.startsWith('#') ? anchors.has(target.slice(1)) : installed().files.includes(target)
  expect(targetsIn(text).filter((target) => !isThere(target))).toEqual([])
  // The page that it is made of has such links.
  expect(targetsIn(page).some((target) => !isThere(target))).toBe(true)
  const { docs } = new library.ClientError('not-submitted', '')
  expect(docs).toBe('confidential-trading-client/README.md#not-submitted')
  expect(anchors).toContain('not-submitted')
})

it.each([
  ['acts on an order', 'orderDesk', "plan({ side: 'SELL', symbol: 'AAPL', usdc: 1n })", 'server-unreachable'],
  ['makes keys', 'keyDesk', 'unlock()', 'signature-invalid'],
  ['reads signatures', 'walletSignature', 'unlock()', 'signature-invalid'],
])(
  'a part that %s fails alone where it cannot be loaded, before the wallet is asked, and the next call loads it',
  async (_, file, call, after) => {
    const { name, project } = installed()
    const script = `
    import { rename } from 'node:fs/promises'
    const { createClient } = await import('${name}')
    let isAsked = false
    const request = async ({ method }) => {
      isAsked ||= method === 'personal_sign'
      return method === 'eth_requestAccounts' ? ['0x${'a1'.repeat(20)}'] : '0x'
    }
    const of = { serverUrl: 'http://127.0.0.1:1', wallet: { request }, allowUnattested: true }
    const client = createClient({ ...of, timing: { attempts: 1 } })
    const part = 'node_modules/${name}/dist/client/${file}.js'
    const failure = () => client.${call}.catch((error) => error)
    await rename(part, part + '.away')
    const { code, retryable } = await failure()
    console.log(code, retryable, isAsked)
    await rename(part + '.away', part)
    console.log((await failure()).code)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: project })
    expect(stdout).toBe(`code-not-loaded true false\n${after}\n`)
  },
)

/** Of the starter, a frontend's first page. */
const MOST_LINES = 50

/** Where a compiler's errors are. Indented lines belong to the error above them. */
const placesIn = (said: string) =>
  said.split('\n').flatMap((line) => (/^\S/.test(line) ? [line.split(',')[0]] : []))

it.each(['bundler', 'nodenext'] as const)(
  'the starter, pages with React 19, viem 2 and ethers 6, and what users lean on compile as %s resolves packages, and no line of a wrong program does',
  { timeout: COMPILING_MS },
  async (resolution) => {
    const { project, name } = installed()
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
    const leaned = await readFile('test/client/package/publicTypes.ts', 'utf8')
    const starter = await readFile('examples/starter/main.ts', 'utf8')
    expect(starter.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
    const pages = {
      'starter.ts': starter,
      'react.tsx': WITH_REACT,
      'viem.ts': WITH_VIEM,
      'ethers.ts': WITH_ETHERS,
      'attestation.ts': WITH_ATTESTATION,
      'publicTypes.ts': leaned.replace(
        /'..\/..\/..\/src\/client\/(\w+).js'/g,
        (_, entry) => `'${entry === 'index' ? name : `${name}/${entry}`}'`,
      ),
      'wrong.ts': WRONG,
    }
    for (const [file, source] of Object.entries(pages)) await writeFile(join(project, file), source)
    const said = await compile(project, Object.keys(pages), { resolution })
    expect(placesIn(said)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12].map((line) => `wrong.ts(${line}`))
  },
)

const BYTES_PER_KB = 1_000

/** The parts that are not of the package's main module. */
const ATTESTATION = '`verifyAttestation`'
const WITH_TDX = '`verifyAttestation`, with TDX'
const STORE = '`createIndexedDbOrderStore`'
const HISTORY = '`createClient`, `getHistory`'
const ADMIN = '`createClient`, `publishRulebook`'
const PARTS = new Map([
  [STORE, '/store'],
  [HISTORY, '/history'],
  [ADMIN, '/admin'],
  [ATTESTATION, '/attestation'],
  [WITH_TDX, '/attestation-tdx'],
])
/** The page's table: what is imported, and the most kB of it at once, later, and in one file. */
const budgets = [
  ...['everything', '`createClient`', HISTORY, ADMIN],
  ...['`createReader`', '`formatDecimal`, `parseDecimal`', ATTESTATION, WITH_TDX, STORE],
].map((imported) => {
  const figure = '([\\d.]+)(?: kB)? +'
  const row = new RegExp(`^\\| ${imported} +\\| ${figure}\\| ${figure}\\| ${figure}\\|$`, 'm')
  const [atOnce, later, inOne] = (row.exec(page) ?? []).slice(1).map((each) => Number(each) * BYTES_PER_KB)
  return { imported, atOnce, later, inOne }
})

/** What a page imports, by its name in the page's table. */
function importsOf(imported: string): string {
  const { name } = installed()
  if (imported === 'everything')
    return ['', '/admin', '/history', '/operator']
      .map((entry) => `export * from '${name}${entry}'`)
      .join('\n')
  const module = `${name}${PARTS.get(imported) ?? ''}`
  const names = [...imported.matchAll(/`(\w+)`/g)].map(([, each]) => each)
  const ofCore = names.filter((each) => each === 'createClient')
  const others = names.filter((each) => each !== 'createClient')
  return `export { ${ofCore} } from '${name}'\nexport { ${others} } from '${module}'`
}

const bundled = (imported: string) => bundle(importsOf(imported), installed())
const placesOf = async (imported: string) => (await bundled(imported)).places

describe('in a page', () => {
  /** More than this needs a word: `npm run client-sizes` keeps the new figures, and the commit says why they changed. */
  const UNNOTICED = 0.01
  const isKeeping = process.env.CLIENT_SIZES === 'keep'
  const kept = readKept()
  const found: Record<string, Size> = {}
  afterAll(() => {
    if (isKeeping) keep(found)
  })

  it.each(budgets)(
    '$imported weighs $atOnce bytes at most at once, and $later later, minified and gzipped',
    async ({ imported, ...most }) => {
      const { size } = await bundled(imported)
      found[imported] = size
      for (const figure of FIGURES) {
        const [now, before] = [size[figure], kept[imported]?.[figure] ?? 0]
        process.stdout.write(`client bundle: ${imported}: ${figure} ${now}, ${before} are kept\n`)
        expect(now, figure).toBeLessThanOrEqual(most[figure] ?? Number.NaN)
        if (!isKeeping) expect(Math.abs(now - before), figure).toBeLessThanOrEqual(before * UNNOTICED)
      }
    },
  )
})

it('the bundle is made of the client, the formats, the reader of events, the ABIs and packages that run in browsers', async () => {
  const client = ['', '/history', '/past'].map((folder) => `dist/client${folder}`)
  const dist = ['dist/chain', 'dist/chain/generated', ...client, 'dist/protocol']
  const packages = ['ethers', 'is-network-error', 'zod']
  expect(await placesOf('everything')).toEqual(['@noble', 'canonicalize', ...dist, ...packages])
  // A part has what it uses.
  expect(await placesOf('`createReader`')).not.toContain('dist/chain/generated')
  expect(await placesOf('`parseDecimal`')).toEqual(['dist/protocol'])
  expect(await placesOf(ATTESTATION)).toEqual(['dist/attestation'])
  expect(await placesOf(WITH_TDX)).toEqual(['dist/attestation', 'dist/attestation/tdx'])
})

/** The functions of the library, and the methods of its client and its past. */
function publicNames(): string[] {
  const wallet: library.Eip1193Provider = { request: () => Promise.reject(new Error('nobody asks')) }
  const methods = Object.keys(
    library.createClient({ serverUrl: 'http://127.0.0.1:1', wallet, allowUnattested: true }),
  )
  const past = Object.keys(library.createPast(wallet, { escrow: `0x${'00'.repeat(20)}`, fromBlock: 0 }))
  const functions = Object.entries({ ...library, ...admin, ...history, ...operator }).flatMap(
    ([name, value]) => (typeof value === 'function' && /^[a-z]/.test(name) ? [name] : []),
  )
  return [...methods, ...past, ...functions].sort()
}

it('every public function has an example, and a place in docs/client.md', async () => {
  expect([...(await sourceExamples()).keys()].sort()).toEqual(publicNames())
  const [, table = ''] = /^## Methods\n([\s\S]*?)^## /m.exec(page) ?? []
  expect([...table.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(publicNames())
})

it('the examples of every public function compile, as a bundler resolves the package', {
  timeout: COMPILING_MS,
}, async () => {
  const { project, name } = installed()
  const files = await writeExamples({ project, name })
  expect(files.length).toBeGreaterThan(2)
  await writeFile(join(project, 'wrong.ts'), `export const a: string = client.lock()\n${exampleHead(name)}\n`)
  const options = { resolution: 'bundler', types: ['node'] } as const
  expect(placesIn(await compile(project, [...files, 'wrong.ts'], options))).toEqual(['wrong.ts(1'])
})
