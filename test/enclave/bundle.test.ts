import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
/** As `npm run build` names them: the enclave with keys of files, and the attested one. */
const ENTRIES = { 'enclave/main': 'src/enclave/main.ts', 'enclave/attested': 'src/enclave/attested/main.ts' }
/** Two places, and the time of every file there. */
const CHECKOUTS = [
  ['a', '2026-11-29'],
  ['somewhere/else/b', '2031-01-01'],
] as const
const packageSchema = z.object({ scripts: z.object({ bundle: z.string() }) })

/** Every file that the enclave's programs are made of, by its path in the checkout, with what names a package's parts. */
async function filesOfTheEnclave(): Promise<Set<string>> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.values(ENTRIES),
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const files = new Set(['package.json', 'tsconfig.json'])
  for (const input of Object.keys(metafile.inputs)) {
    files.add(input)
    for (let folder = dirname(input); folder.includes('node_modules/'); folder = dirname(folder))
      files.add(join(folder, 'package.json'))
  }
  return files
}

/** A checkout below `directory`, as far as the build of the enclave needs one. */
async function checkOut(files: Iterable<string>, directory: string, time: string): Promise<void> {
  for (const file of files) {
    const copy = join(directory, file)
    await mkdir(dirname(copy), { recursive: true })
    try {
      await cp(join(ROOT, file), copy)
      await utimes(copy, new Date(time), new Date(time))
    } catch (error) {
      // Not every folder of a package has one.
      if (!file.endsWith('package.json')) throw error
    }
  }
}

test('each enclave is one file, whose bytes follow from its sources alone, and which says what it is', async () => {
  const { scripts } = packageSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')))
  const files = await filesOfTheEnclave()
  const temporary = await temporaryDirectory()
  const hashes = new Set<string>()
  for (const [place, time] of CHECKOUTS) {
    const directory = join(temporary, place)
    await checkOut(files, directory, time)
    const env = {
      PATH: `${dirname(process.execPath)}:${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
    }
    const sh = (command: string) => run('/bin/sh', ['-c', command], { cwd: directory, env })
    const entries = Object.entries(ENTRIES).map((entry) => entry.join('='))
    await sh([scripts.bundle, ...entries].join(' '))
    for (const name of Object.keys(ENTRIES)) {
      const program = await readFile(join(directory, `dist/${name}.js`))
      const hash = createHash('sha256').update(program).digest('hex')
      expect((await sh(`node dist/${name}.js --hash`)).stdout).toContain(hash)
      expect(program.toString()).not.toContain(temporary)
      const map = await readFile(join(directory, `dist/${name}.js.map`), 'utf8')
      expect(map.length).toBeGreaterThan(1_000)
      hashes.add(`${name} ${hash}`)
    }
  }
  expect([...hashes]).toHaveLength(Object.keys(ENTRIES).length)
})
