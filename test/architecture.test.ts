import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

/** The part of `chain` that the client may import too: it reads events and calldata, in a browser as well. */
const CHAIN_IN_BROWSERS = [
  ...['abi', 'accountSignature', 'actionList', 'blockTimes', 'calledAuthorization', 'earlierWrites'],
  ...['errors', 'jsonRpc', 'logReader', 'signerProgram'],
].map((name) => `chain/${name}.js`)
/** The modules that the client package exports. */
const CLIENT_ENTRIES = [
  ...['index', 'admin', 'history', 'operator', 'receipt/index', 'store/index', 'store/browser'],
].map((name) => `client/${name}.js`)
/** The imports that a folder of src may have besides itself, as starts of paths in src; `*` is anything. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  service: ['protocol/'],
  chain: ['protocol/'],
  broker: ['protocol/', 'service/'],
  attestation: ['protocol/'],
  server: ['protocol/', 'service/', 'chain/', 'broker/'],
  enclave: ['protocol/', 'service/', 'chain/', 'broker/', 'attestation/'],
  client: ['protocol/', 'attestation/index.js', 'chain/generated/', ...CHAIN_IN_BROWSERS],
  terminal: ['protocol/', 'service/', 'chain/', ...CLIENT_ENTRIES],
  cli: ['protocol/', 'service/', 'chain/', 'attestation/', 'terminal/', ...CLIENT_ENTRIES],
  operate: [
    ...['protocol/', 'service/', 'chain/', 'broker/', 'attestation/', 'terminal/'],
    ...['server/config/', 'server/limitUse.js', 'server/narrator/', 'server/store/', 'client/operator.js'],
  ],
  simulator: ['protocol/'],
  sandbox: ['*'],
}
const FOLDERS = Object.keys(MAY_IMPORT)
/** The part of the client's subpath `store` that a bundle for browsers leaves out. */
const IN_NODE_ALONE = ['client/store/file.ts']
/** Those that run in a browser. */
const BROWSER_FOLDERS = ['protocol', 'attestation', 'client']
/** Folders with schemas that pages load: one of `zod` brings all of that library. */
const MINI_FOLDERS = [...BROWSER_FOLDERS, 'chain']
/** The imports from src that the page may have. */
const WEB_MAY_IMPORT = [...CLIENT_ENTRIES, 'attestation/', 'protocol/', 'chain/generated/']
const MAX_LINES = 400

interface Source {
  /** From src, with `/`. */
  readonly path: string
  readonly folder: string
  readonly text: string
}

async function readSources(root: string, ...extensions: string[]): Promise<Source[]> {
  const names = await readdir(root, { recursive: true })
  return Promise.all(
    names
      .map((name) => name.replaceAll('\\', '/'))
      .filter((path) => extensions.some((end) => path.endsWith(end)) && !path.includes('/generated/'))
      .map(async (path) => ({
        path,
        folder: path.split('/')[0] ?? '',
        text: await readFile(join(root, path), 'utf8'),
      })),
  )
}

/** All TypeScript of the repository, by its path from there. */
async function readTypeScript(): Promise<Source[]> {
  const entries = await readdir('.', { withFileTypes: true })
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !/^(?:\.|node_modules|dist)/.test(entry.name),
  )
  const read = folders.map(async ({ name }) => {
    const found = await readSources(name, '.ts', '.tsx')
    return found.map((source) => ({ ...source, path: `${name}/${source.path}` }))
  })
  return (await Promise.all(read)).flat().filter(({ path }) => !/\/(?:node_modules|dist)\//.test(path))
}

/** Every module that a source names: static, type-only, dynamic and re-exported. */
function importsOf({ text }: Source): string[] {
  const found = text.matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)
  return [...found].map((match) => match[1] ?? '')
}

/** A relative import as a path from where the source's is; undefined for a package. */
function pathInSrc({ path }: Source, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
}

/** Each import of another module here, as a sentence. */
function importing(all: readonly Source[], isWrong: (target: string, source: Source) => boolean): string[] {
  return all.flatMap((source) =>
    importsOf(source)
      .flatMap((specifier) => pathInSrc(source, specifier) ?? [])
      .filter((target) => isWrong(target, source))
      .map((target) => `${source.path} imports ${target}`),
  )
}

function isAllowed(folder: string, target: string): boolean {
  if (target.startsWith(`${folder}/`)) return true
  return (MAY_IMPORT[folder] ?? []).some((start) => start === '*' || target.startsWith(start))
}

/** The paths of the sources of which that is true. */
const pathsWhere = (all: readonly Source[], isSo: (source: Source) => boolean) =>
  all.filter(isSo).map(({ path }) => path)

type Edge = readonly [from: string, to: string]

/** The circles of imports among the direct children, files or folders, of each folder: one line for each group. */
function circlesIn(edges: readonly Edge[]): string[] {
  const folders = new Set(
    edges.flatMap(([from]) => from.split('/').map((_, at, parts) => parts.slice(0, at).join('/'))),
  )
  return [...folders].flatMap((folder) => {
    const prefix = folder === '' ? '' : `${folder}/`
    const childOf = (path: string) =>
      path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0] : undefined
    const graph = new Map<string, Set<string>>()
    for (const [from, to] of edges) {
      const [importer, imported] = [childOf(from), childOf(to)]
      if (importer === undefined || imported === undefined || importer === imported) continue
      graph.set(importer, (graph.get(importer) ?? new Set()).add(imported))
    }
    const inCircle = [...graph.keys()].filter((child) => reachedFrom(child, graph).has(child))
    return inCircle.length === 0
      ? []
      : [`of ${folder === '' ? 'the repository' : folder}: ${inCircle.join(' ')}`]
  })
}

function reachedFrom(start: string, graph: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>()
  const waiting = [start]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const child of graph.get(next) ?? []) {
      if (reached.has(child)) continue
      reached.add(child)
      waiting.push(child)
    }
  return reached
}

const sources = await readSources('src', '.ts')
const web = await readSources('web', '.ts', '.tsx', '.css')

describe('imports', () => {
  test('are found, and every folder has its rule', () => {
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(sources.length)
    expect([...new Set(sources.map(({ folder }) => folder))].sort()).toEqual([...FOLDERS].sort())
  })

  test('only point down', () => {
    expect(importing(sources, (target, { folder }) => !isAllowed(folder, target))).toEqual([])
  })

  test('go round in no circle: between files, and between the folders of each folder of TypeScript', async () => {
    const files = await readTypeScript()
    const paths = new Set(files.map(({ path }) => path))
    const topOf = (path: string) => path.split('/')[0]
    const edges = files.flatMap((source) =>
      importsOf(source)
        .map((specifier) => pathInSrc(source, specifier)?.replace(/\.js$/, '.ts') ?? '')
        .flatMap((target) => [target, `${target}x`].filter((path) => paths.has(path)))
        // A test imports its subject, wherever that is, and is imported by none.
        .filter((target) => !source.path.endsWith('.test.ts') || topOf(target) === topOf(source.path))
        .map((target) => [source.path, target] as const),
    )
    const importing = new Set(edges.map(([from]) => topOf(from)))
    for (const folder of ['bench', 'scripts', 'src', 'test', 'web']) expect(importing).toContain(folder)
    expect(edges.length).toBeGreaterThan(4_000)
    const circle: Edge[] = [
      ['a/x', 'b/x'],
      ['b/y', 'a/y'],
    ]
    expect(circlesIn(circle)).toEqual(['of the repository: a b'])
    expect(circlesIn(edges)).toEqual([])
  })

  test('take nothing from src into the page but the client library, the verifier and the formats', () => {
    expect(web.length).toBeGreaterThan(20)
    const pages = web.map((source) => ({ ...source, path: `web/${source.path}` }))
    const isForeign = (target: string) =>
      target.startsWith('src/') && !WEB_MAY_IMPORT.some((start) => target.startsWith(`src/${start}`))
    expect(importing(pages, isForeign)).toEqual([])
  })

  test('take nothing of the client library from outside but what its package exports', () => {
    const outside = sources.filter(({ folder }) => folder !== 'client')
    const isInner = (target: string) => target.startsWith('client/') && !CLIENT_ENTRIES.includes(target)
    expect(importing(outside, isInner)).toEqual([])
  })

  test('leave each call of a contract to the client library, in the programs of people', () => {
    const ofPeople = [
      ...sources.filter(({ folder }) => ['cli', 'operate', 'terminal'].includes(folder)),
      ...web,
    ]
    const calls = ({ text }: Source) =>
      /encodeFunctionData|encodeCall|new Contract\(|chain\/(?:abi|interfaces)\.js/.test(text)
    // It reads events.
    expect(pathsWhere(ofPeople, calls)).toEqual(['operate/watch.ts'])
  })

  test('name no built-in of Node where a browser runs it', () => {
    const inBrowsers = sources.filter(
      ({ folder, path }) =>
        BROWSER_FOLDERS.includes(folder) || CHAIN_IN_BROWSERS.includes(path.replace(/\.ts$/, '.js')),
    )
    const ofNode = (source: Source) => importsOf(source).some((specifier) => specifier.startsWith('node:'))
    expect(pathsWhere(inBrowsers, ofNode)).toEqual(IN_NODE_ALONE)
  })

  test('write schemas in zod/mini where a page may load them', () => {
    const ofPages = [...sources.filter(({ folder }) => MINI_FOLDERS.includes(folder)), ...web]
    expect(pathsWhere(ofPages, (source) => importsOf(source).includes('zod'))).toEqual([])
  })

  test('load SQLite only once the version of Node is known to have it', () => {
    const loads = ({ text }: Source) => /^import (?!type )[^'\n]*'node:sqlite'/m.test(text)
    expect(pathsWhere(sources, loads)).toEqual([])
  })

  test('name only packages that production has, but in the sandbox', async () => {
    const { dependencies, optionalDependencies } = await readPackage()
    const packages = sources
      .filter(({ folder }) => folder !== 'sandbox')
      .flatMap(importsOf)
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .map((specifier) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    const known = { ...dependencies, ...optionalDependencies }
    expect([...new Set(packages)].filter((name) => !(name in known))).toEqual([])
  })

  test('load an optional package only when it is needed', async () => {
    const { optionalDependencies } = await readPackage()
    const names = Object.keys(optionalDependencies)
    expect(names.length).toBeGreaterThan(0)
    const loads = ({ text }: Source) =>
      names.some((name) => new RegExp(`^(?:import|export) (?!type )[^'()]*'${name}'`, 'm').test(text))
    expect(pathsWhere(sources, loads)).toEqual([])
  })
})

const packageSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
})

async function readPackage() {
  return packageSchema.parse(JSON.parse(await readFile('package.json', 'utf8')))
}

describe('the sources', () => {
  test.each(['LEDGER_MASTER_KEY', 'INTENT_PRIVATE_KEY', 'ENCLAVE_PRIVATE_KEY'])(
    'name %s in the enclave and the sandbox alone, and where the keys are made',
    async (name) => {
      const naming = sources.filter(({ text }) => text.includes(name))
      expect(naming.map(({ folder }) => folder)).toContain('enclave')
      const isOther = ({ folder }: Source) => folder !== 'enclave' && folder !== 'sandbox'
      expect(pathsWhere(naming, isOther)).toEqual(['operate/secretFiles.ts'])
      expect(await readFile('.env.example', 'utf8')).not.toContain(name)
    },
  )

  test('silence no rule of the linter or the compiler', () => {
    const silences = ({ text }: Source) => /biome-ignore|@ts-(?:ignore|expect-error|nocheck)/.test(text)
    expect(pathsWhere([...sources, ...web], silences)).toEqual([])
  })

  test(`have ${MAX_LINES} lines at most, and so have the contracts`, async () => {
    const contracts = await readSources('contracts', '.sol')
    expect(contracts.length).toBeGreaterThan(4)
    const isLong = ({ text }: Source) => text.split('\n').length - 1 > MAX_LINES
    expect(pathsWhere([...sources, ...web, ...contracts], isLong)).toEqual([])
  })
})

test('titles of tests begin with their subject, so that they can be searched for what they protect', async () => {
  const tests = await readSources('test', '.test.ts')
  expect(tests.length).toBeGreaterThan(100)
  const title = /^\s*(?:(?:it|test)(?:\.\w+)*\(|\]?\)\()(['"`])((?:that|whose|who|which|what|of) .*?)\1/gm
  const found = tests.flatMap(({ path, text }) => {
    return [...text.matchAll(title)].map(([, , words]) => `${path}: ${words}`)
  })
  expect(found).toEqual([])
})

const plantedSchema = z.array(z.object({ fault: z.string(), file: z.string(), from: z.string() }))

test('each planted fault has its place once in the product, so that the night can plant it', async () => {
  const planted = plantedSchema.parse(JSON.parse(await readFile('test/plantedFaults.json', 'utf8')))
  expect(planted.length).toBeGreaterThan(100)
  const counted = planted.map(async ({ fault, file, from }) => {
    return { fault, places: (await readFile(file, 'utf8')).split(from).length - 1 }
  })
  expect((await Promise.all(counted)).filter(({ places }) => places !== 1)).toEqual([])
})

test('comments of the server begin with their subject, and none with a preposition', () => {
  const first =
    /(?:\/\*\*|\/\/)(?:\n \*)? (?:Of|In|On|With|By|For|To|From|At|After|Before|Until|Without|Within|Under|Over|Between|Beside|Behind|Among|Through|Against|Into|During|Since|Per|Above|Below|As|Up) /
  const server = sources.filter(({ path }) => path.startsWith('server/'))
  expect(pathsWhere(server, ({ text }) => first.test(text))).toEqual([])
})
