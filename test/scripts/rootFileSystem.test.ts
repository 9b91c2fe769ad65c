// The files of an attested image: GNU tar reads what the script writes, and nothing of the machine is in it.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { type Entry, librariesOf, tarOf } from '../../scripts/rootFileSystem.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const ENTRIES: readonly Entry[] = [
  { path: 'opt/trading/node', content: Buffer.from('a binary'), isProgram: true },
  { path: 'opt/trading/attested.js', content: Buffer.alloc(512, 'x') },
  { path: 'etc/Zone', content: Buffer.alloc(0) },
  { path: 'etc/a', content: Buffer.from('a') },
]

it('an archive has names, modes, owner and time as they are told, and no others', async () => {
  const file = join(await temporaryDirectory(), 'root.tar')
  await writeFile(file, tarOf(ENTRIES))
  const listed = execFileSync('tar', ['-tvf', file, '--numeric-owner', '--utc'], { encoding: 'utf8' })
  expect(
    listed
      .trim()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ')),
  ).toEqual([
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 etc/',
    '-rw-r--r-- 0/0 0 1970-01-01 00:00 etc/Zone',
    '-rw-r--r-- 0/0 1 1970-01-01 00:00 etc/a',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 opt/',
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 opt/trading/',
    '-rw-r--r-- 0/0 512 1970-01-01 00:00 opt/trading/attested.js',
    '-rwxr-xr-x 0/0 8 1970-01-01 00:00 opt/trading/node',
  ])
  expect(execFileSync('tar', ['-xOf', file, 'opt/trading/node'], { encoding: 'utf8' })).toBe('a binary')
})

it('its bytes do not depend on the order in which files were found', () => {
  expect(tarOf(ENTRIES.toReversed()).equals(tarOf(ENTRIES))).toBe(true)
})

/** A package as Debian has them, of files and of links. */
async function packageOf(directory: string, name: string, files: Readonly<Record<string, string>>) {
  const root = join(directory, name)
  for (const [path, content] of Object.entries({ 'DEBIAN/control': CONTROL, ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    const [, target] = content.split('-> ')
    await (target === undefined ? writeFile(join(root, path), content) : symlink(target, join(root, path)))
  }
  const file = `${name}.deb`
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', root, join(directory, file)])
  const sha256 = createHash('sha256')
    .update(await readFile(join(directory, file)))
    .digest('hex')
  return { file, sha256 }
}
const CONTROL = 'Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@a>\nDescription: a\n'

it('an image has the libraries of the pinned packages and the loader, and a changed package is refused', async () => {
  const directory = await temporaryDirectory()
  const c = await packageOf(directory, 'libc', {
    'lib/machine/libc.so.6': 'c',
    'lib/machine/ld.so.2': 'a loader',
    'lib64/ld.so.2': '-> /lib/machine/ld.so.2',
  })
  const plus = await packageOf(directory, 'libstdc', {
    'usr/lib/machine/libstdc++.so.6': '-> libstdc++.so.6.0.30',
    'usr/lib/machine/libstdc++.so.6.0.30': 'plus',
    'usr/share/doc/a': 'a',
  })
  const architecture = {
    ...{ folder: 'lib/machine', loader: ['lib64/ld.so.2', 'ld.so.2'] as const },
    packages: [
      { ...c, libraries: ['libc.so.6'] },
      { ...plus, libraries: ['libstdc++.so.6'] },
    ],
  }
  const entries = librariesOf(architecture, directory)
  expect(entries.map((entry) => ({ ...entry, content: entry.content.toString() }))).toEqual([
    { path: 'lib/machine/libc.so.6', content: 'c' },
    { path: 'lib/machine/libstdc++.so.6', content: 'plus' },
    { path: 'lib64/ld.so.2', content: 'a loader', isProgram: true },
  ])
  expect(tarOf(entries).length).toBeGreaterThan(0)
  await appendFile(join(directory, plus.file), 'x')
  expect(() => librariesOf(architecture, directory)).toThrow('not the pinned one')
})
