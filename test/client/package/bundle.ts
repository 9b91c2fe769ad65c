// What a page loads of the package: bundled and minified as a frontend would, and compared with the figures that are kept.
import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Rolldown, build as viteBuild } from 'vite'
import { z } from 'zod'
import type { Installed } from './installed.js'

const figures = ['atOnce', 'later', 'inOne'] as const
type Figure = (typeof figures)[number]

const sizeSchema = z.object({
  /** Gzipped: the entry with all that it imports, and all that it loads by `import()`, as Vite makes files of them. */
  atOnce: z.int(),
  later: z.int(),
  /** The same as one file of esbuild's. */
  inOne: z.int(),
  /** The folders of the package, and the names of others, with their bytes before compression. */
  minified: z.record(z.string(), z.int()),
})
export type Size = z.output<typeof sizeSchema>

export async function bundle(contents: string, installed: Pick<Installed, 'name' | 'project'>) {
  const [split, whole] = [await inFiles(contents, installed), await inOneFile(contents, installed)]
  return { ...split, ...whole }
}

const gzipped = (text: string) => gzipSync(text, { level: 9 }).length

/** The files of a page that Vite builds. */
async function inFiles(contents: string, { name, project }: Pick<Installed, 'name' | 'project'>) {
  const page = join(project, 'page.js')
  await writeFile(page, contents)
  const built = await viteBuild({
    root: project,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      rolldownOptions: { input: page, preserveEntrySignatures: 'allow-extension' },
    },
  })
  const chunks = chunksIn(built)
  const first = new Set<string>()
  const follow = (file: string) => {
    if (first.has(file)) return
    first.add(file)
    for (const imported of chunks.get(file)?.imports ?? []) follow(imported)
  }
  for (const [file, { isEntry }] of chunks) if (isEntry) follow(file)
  const sumOf = (isFirst: boolean) =>
    [...chunks]
      .filter(([file]) => first.has(file) === isFirst)
      .reduce((sum, [, { code }]) => sum + gzipped(code), 0)
  const modules = [...first].flatMap((file) => Object.entries(chunks.get(file)?.modules ?? {}))
  const used = modules.filter(
    ([path, { renderedLength }]) => path.includes('node_modules') && renderedLength > 0,
  )
  const places = [...new Set(used.map(([path]) => placeOf(path, name)))].sort()
  return { atOnce: sumOf(true), later: sumOf(false), places }
}

function chunksIn(built: Awaited<ReturnType<typeof viteBuild>>): Map<string, Rolldown.OutputChunk> {
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) =>
    'output' in one ? one.output : [],
  )
  return new Map(outputs.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one] as const] : [])))
}

/** Nothing is external: an import of a Node module fails the build. */
async function inOneFile(contents: string, { name, project }: Pick<Installed, 'name' | 'project'>) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: project },
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
    inOne: gzipped(outputFiles[0]?.text ?? ''),
    external: (output?.imports ?? []).map(({ path }) => path),
    minified: sharesOf(inputs.map(([path, { bytesInOutput }]) => [placeOf(path, name), bytesInOutput])),
  }
}

const placeOf = (path: string, name: string) => sourceOf(path.split('node_modules/').at(-1) ?? '', name)

function sharesOf(parts: readonly (readonly [place: string, bytes: number])[]): Record<string, number> {
  const shares = new Map<string, number>()
  for (const [place, bytes] of parts) shares.set(place, (shares.get(place) ?? 0) + bytes)
  return Object.fromEntries([...shares].sort(([, one], [, other]) => other - one))
}

function sourceOf(path: string, name: string): string {
  const [folder = ''] = path.split('/')
  return folder === name ? posix.relative(name, posix.dirname(path)) : folder
}

const KEPT = new URL('sizes.json', import.meta.url)

/** The sizes of the last commit that changed them by more than a test lets pass, by what is imported. */
export function readKept(): Readonly<Record<string, Size>> {
  return z.record(z.string(), sizeSchema).parse(JSON.parse(readFileSync(KEPT, 'utf8')))
}

export function keep(sizes: Readonly<Record<string, Size>>): void {
  writeFileSync(KEPT, `${JSON.stringify(sizes, null, 2)}\n`)
}

/** What has changed since a size was kept: the sum, and each place before compression. */
export function changeOf(size: Size, kept: Size | undefined): string {
  const before = kept ?? { atOnce: 0, later: 0, inOne: 0, minified: {} }
  const places = [...new Set([...Object.keys(size.minified), ...Object.keys(before.minified)])]
  const changes = places
    .map((place) => [place, (size.minified[place] ?? 0) - (before.minified[place] ?? 0)] as const)
    .filter(([, bytes]) => bytes !== 0)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .map(([place, bytes]) => `${place} ${signed(bytes)}`)
  const sums = figures
    .map((each) => `${each} ${size[each]} (${signed(size[each] - before[each])})`)
    .join(', ')
  return changes.length === 0 ? sums : `${sums}; minified: ${changes.join(', ')}`
}

/** The figures that have changed by more than this part since they were kept. */
export function changedBeyond(part: number, size: Size, kept: Size | undefined): Figure[] {
  return figures.filter((each) => {
    const before = kept?.[each] ?? 0
    return Math.abs(size[each] - before) > before * part
  })
}

function signed(bytes: number): string {
  return bytes > 0 ? `+${bytes}` : `${bytes}`
}
