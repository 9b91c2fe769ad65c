// The bytes that a page pays for the client, and for a part of it: bundled from the package as npm packs it.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { useInstalledPackage } from './package/installed.js'

const installed = useInstalledPackage()

const BYTES_PER_KB = 1_000

/** The table of docs/client.md: what is imported, and the most that it may weigh in kB. */
const budgets = [
  ...readFileSync('docs/client.md', 'utf8').matchAll(
    /^\| (everything|`\w+`(?:, `\w+`)*) +\| ([\d.]+) kB +\|$/gm,
  ),
].map(([, imported = '', kilobytes]) => ({ imported, most: Number(kilobytes) * BYTES_PER_KB }))

/** Bundles and minifies as a frontend would, nothing external: an import of a Node module fails the build. */
async function bundle(imported: string) {
  const { name, project } = installed()
  const names = imported === 'everything' ? '*' : `{ ${imported.replaceAll('`', '')} }`
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export ${names} from '${name}'`, resolveDir: project },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
    write: false,
    absWorkingDir: project,
  })
  const [output] = Object.values(metafile.outputs)
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return {
    gzipped: gzipSync(outputFiles[0]?.text ?? '', { level: 9 }).length,
    external: output?.imports ?? [],
    /** The folders of this package, and the names of others. */
    from: new Set(inputs.map(([path]) => sourceOf(path.split('node_modules/').at(-1) ?? '', name))),
  }
}

function sourceOf(path: string, name: string): string {
  const own = path.startsWith(`${name}/`)
  return own
    ? path
        .slice(name.length + 1)
        .split('/')
        .slice(0, -1)
        .join('/')
    : (path.split('/')[0] ?? '')
}

it('the client has a documented budget for the whole, and for parts', () => {
  expect(budgets.map(({ imported }) => imported)).toEqual([
    'everything',
    '`createReader`',
    '`formatDecimal`, `parseDecimal`',
  ])
})

it.each(budgets)('$imported weighs $most bytes at most, minified and gzipped', async ({ imported, most }) => {
  const { gzipped, external } = await bundle(imported)
  process.stdout.write(`client bundle: ${imported}: ${gzipped} of ${most} bytes\n`)
  expect(external).toEqual([])
  expect(gzipped).toBeGreaterThan(0)
  expect(gzipped).toBeLessThanOrEqual(most)
})

it('the bundle is made of the client, the formats, the reader of events, the ABIs and packages that run in browsers', async () => {
  expect([...(await bundle('everything')).from].sort()).toEqual([
    '@noble',
    'canonicalize',
    'dist/chain',
    'dist/chain/generated',
    'dist/client',
    'dist/client/history',
    'dist/client/past',
    'dist/protocol',
    'ethers',
    'is-network-error',
    'zod',
  ])
})

it('a bundle leaves out what a part does not use', async () => {
  expect((await bundle('`createReader`')).from).not.toContain('dist/chain/generated')
  expect([...(await bundle('`parseDecimal`')).from]).toEqual(['dist/protocol'])
})
