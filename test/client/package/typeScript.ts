import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { run } from './installed.js'

/** How a consumer's compiler finds the package: as a bundler does, or as Node does. */
const RESOLUTIONS = {
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
} as const

interface CompileOptions {
  readonly resolution: keyof typeof RESOLUTIONS
  /** Type packages that are in sight, none by default: a page has none of Node's. */
  readonly types?: readonly string[]
  /** Where the JavaScript goes; nowhere by default. */
  readonly outDir?: string
}

/** Compiles files of a project strictly, by this project's compiler or the one in `TYPESCRIPT`. Resolves with what it has to say, '' if nothing. */
export async function compile(
  project: string,
  files: readonly string[],
  options: CompileOptions,
): Promise<string> {
  const { resolution, types = [], outDir } = options
  const config = {
    compilerOptions: {
      ...RESOLUTIONS[resolution],
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types,
      jsx: 'react-jsx',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      // The types of the packages below are their own makers' business.
      skipLibCheck: true,
      // The starters of examples/node import each other as Node reads them.
      rewriteRelativeImportExtensions: true,
      ...(outDir === undefined ? { noEmit: true } : { outDir, rootDir: '.' }),
    },
    files,
  }
  const configFile = `tsconfig.${resolution}.json`
  await writeFile(join(project, configFile), JSON.stringify(config))
  const tsc = resolve(process.env.TYPESCRIPT ?? 'node_modules/typescript', 'bin/tsc')
  return run(process.execPath, [tsc, '-p', configFile], { cwd: project }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout || String(error),
  )
}
