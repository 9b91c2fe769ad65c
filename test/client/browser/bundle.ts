import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

/** A file of this folder bundled for browsers: its text, and what went into it. */
export interface Bundle {
  text: string
  /** Bytes that each source file left in the bundle. */
  bytesOf: Metafile['outputs'][string]['inputs']
  /** Modules that are left to be found at run time. */
  external: string[]
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** Bundles as a frontend would: nothing external, so that an import of a Node module fails the build. */
export async function bundleForBrowser(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [here(entry)],
    inject: [here('nodeGlobals.ts')],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'page',
    logLevel: 'silent',
    metafile: true,
    write: false,
    absWorkingDir: here('../../..'),
  })
  const output = Object.values(metafile.outputs)[0]
  const [file] = outputFiles
  if (!output || !file) throw new Error('esbuild wrote nothing')
  const external = output.imports.filter((imported) => imported.external).map(({ path }) => path)
  return { text: file.text, bytesOf: output.inputs, external }
}
