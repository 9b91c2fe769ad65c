import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { built } from '../../support/built.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const USER = fileURLToPath(new URL('./diskUser.ts', import.meta.url))
const run = promisify(execFile)

test("the disk's thread does with the files what it is asked for, and tells failures by the system's code", async () => {
  const root = join(await temporaryDirectory(), 'data')
  const { stdout } = await run(process.execPath, [
    '--import',
    'tsx',
    USER,
    built('server/store/disk.js'),
    root,
  ])
  expect(JSON.parse(stdout)).toEqual({
    absent: [null, [], false],
    read: 'second, with ü and \u{1f512}',
    moved: [true, false],
    lists: [[], ['two.json'], 50],
    removed: [true, false],
    failed: [
      { name: 'StorageError', code: 'EISDIR' },
      { name: 'StorageError', code: 'EISDIR' },
    ],
    missing: { name: 'StorageError', code: 'ENOENT' },
    left: [],
  })
  expect((await readdir(join(root, 'many'))).length).toBe(50)
  // Of several writes to one file the last one that was asked for is not promised; that it is whole is.
  expect(await readFile(join(root, 'many/7.json'), 'utf8')).toMatch(/^text (?:7|57|107|157)$/)
})
