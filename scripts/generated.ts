import { readFileSync, writeFileSync } from 'node:fs'

/** A file beside package.json, and its text as made from the present one. */
export type GeneratedFile = [file: string, rendered: (present: string) => string]

/** Writes the files. With --check on the command line it writes nothing, and fails if one differs from its source. */
export function writeOrCheck(files: readonly GeneratedFile[], source: string, command: string): void {
  for (const [file, rendered] of files) {
    const path = new URL(`../${file}`, import.meta.url)
    const present = readFileSync(path, 'utf8')
    const expected = rendered(present)
    if (!process.argv.includes('--check')) {
      writeFileSync(path, expected)
    } else if (present !== expected) {
      console.error(`${file} differs from ${source}: run \`${command}\`.`)
      process.exitCode = 1
    }
  }
}
