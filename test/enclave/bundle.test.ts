import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
/** As `npm run build` names it. */
const ENTRY = 'enclave/main=src/enclave/main.ts'
const packageSchema = z.object({ scripts: z.object({ bundle: z.string() }) })

/** Every file that the enclave's program is made of, by its path in the checkout, with what names a package's parts. */
async function filesOfTheEnclave(): Promise<Set<string>> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/enclave/main.ts'],
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
async function checkOut(files: Iterable<string>, directory: string): Promise<void> {
  for (const file of files) {
    await mkdir(join(directory, dirname(file)), { recursive: true })
    await cp(join(ROOT, file), join(directory, file)).catch((error: unknown) => {
      // Not every folder of a package has one.
      if (!file.endsWith('package.json')) throw error
    })
  }
}

test('the enclave is one file, whose bytes follow from its sources alone, and which says what it is', async () => {
  const { scripts } = packageSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')))
  const files = await filesOfTheEnclave()
  const temporary = await temporaryDirectory()
  const hashes = []
  for (const place of ['a', 'somewhere/else/b']) {
    const directory = join(temporary, place)
    await checkOut(files, directory)
    const env = {
      PATH: `${dirname(process.execPath)}:${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
    }
    const { stdout } = await run(
      '/bin/sh',
      ['-c', `${scripts.bundle} ${ENTRY} && node dist/enclave/main.js --hash`],
      { cwd: directory, env },
    )
    const program = await readFile(join(directory, 'dist/enclave/main.js'))
    const hash = createHash('sha256').update(program).digest('hex')
    expect(stdout).toContain(hash)
    expect(program.toString()).not.toContain(temporary)
    expect((await readFile(join(directory, 'dist/enclave/main.js.map'), 'utf8')).length).toBeGreaterThan(
      1_000,
    )
    hashes.push(hash)
  }
  expect(hashes[0]).toBe(hashes[1])
})
