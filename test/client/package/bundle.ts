// What a page loads of the package: bundled and minified as a frontend would, and compared with the figures that are kept.
import { readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { z } from 'zod'
import type { Installed } from './installed.js'

const sizeSchema = z.object({
  gzipped: z.int(),
  /** The folders of the package, and the names of others, with their bytes before compression. */
  minified: z.record(z.string(), z.int()),
})
export type Size = z.output<typeof sizeSchema>

/** Nothing is external: an import of a Node module fails the build. */
export async function bundle(
  contents: string,
  { name, project }: Pick<Installed, 'name' | 'project'>,
): Promise<Size & { readonly external: readonly string[] }> {
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
    gzipped: gzipSync(outputFiles[0]?.text ?? '', { level: 9 }).length,
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
  const before = kept ?? { gzipped: 0, minified: {} }
  const places = [...new Set([...Object.keys(size.minified), ...Object.keys(before.minified)])]
  const changes = places
    .map((place) => [place, (size.minified[place] ?? 0) - (before.minified[place] ?? 0)] as const)
    .filter(([, bytes]) => bytes !== 0)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .map(([place, bytes]) => `${place} ${signed(bytes)}`)
  const sum = `${signed(size.gzipped - before.gzipped)} bytes since ${before.gzipped}`
  return changes.length === 0 ? sum : `${sum}; minified: ${changes.join(', ')}`
}

function signed(bytes: number): string {
  return bytes > 0 ? `+${bytes}` : `${bytes}`
}
