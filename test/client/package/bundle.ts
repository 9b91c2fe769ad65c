// What a page loads of the package: bundled and minified as a frontend would, and compared with the figures that are kept.
import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Rolldown, build as viteBuild } from 'vite'
import * as z from 'zod'
import type { Installed } from './installed.js'

/** Gzipped: the entry with all that it imports, and all that it loads by `import()`, as Vite makes files of them; the same as one file of esbuild's. */
export const FIGURES = ['atOnce', 'later', 'inOne'] as const
const sizeSchema = z.record(z.enum(FIGURES), z.int())
export type Size = z.output<typeof sizeSchema>

const gzipped = (text: string) => gzipSync(text, { level: 9 }).length

/** Nothing is external: an import of a Node module fails the build. */
export async function bundle(contents: string, { name, project }: Pick<Installed, 'name' | 'project'>) {
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
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: project }, absWorkingDir: project, write: false },
    ...{ bundle: true, minify: true, platform: 'browser', format: 'esm' },
  })
  const chunks = chunksIn(built)
  const later = chunks.filter((chunk) => !firstOf(chunks).has(chunk))
  const sumOf = (some: readonly Rolldown.OutputChunk[]) =>
    some.reduce((sum, { code }) => sum + gzipped(code), 0)
  const size: Size = {
    atOnce: sumOf(chunks) - sumOf(later),
    later: sumOf(later),
    inOne: gzipped(outputFiles[0]?.text ?? ''),
  }
  return { size, places: placesOf(chunks, name) }
}

function chunksIn(built: Awaited<ReturnType<typeof viteBuild>>): Rolldown.OutputChunk[] {
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  return outputs.filter((one) => one.type === 'chunk')
}

/** The chunks that are loaded at once: the entry, and what it imports, by any number of steps. */
function firstOf(chunks: readonly Rolldown.OutputChunk[]): Set<Rolldown.OutputChunk> {
  const first = new Set(chunks.filter(({ isEntry }) => isEntry))
  for (const { imports } of first) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) first.add(chunk)
  }
  return first
}

/** The folders of the package, and the names of others, that some line of the bundle is from. */
function placesOf(chunks: readonly Rolldown.OutputChunk[], name: string): string[] {
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules))
  const used = modules.filter(
    ([path, { renderedLength }]) => path.includes('node_modules') && renderedLength > 0,
  )
  const places = used.map(([path]) => {
    const source = path.split('node_modules/').at(-1) ?? ''
    const [folder = ''] = source.split('/')
    return folder === name ? posix.relative(name, posix.dirname(source)) : folder
  })
  return [...new Set(places)].sort()
}

const KEPT = new URL('sizes.json', import.meta.url)

/** The sizes of the last commit that changed them by more than a test lets pass, by what is imported. */
export function readKept(): Readonly<Record<string, Size>> {
  return z.record(z.string(), sizeSchema).parse(JSON.parse(readFileSync(KEPT, 'utf8')))
}

export function keep(sizes: Readonly<Record<string, Size>>): void {
  writeFileSync(KEPT, `${JSON.stringify(sizes, null, 2)}\n`)
}
