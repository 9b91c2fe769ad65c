// The files of an attested image: GNU tar reads what the script writes, and nothing of the machine is in it.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkedNode, type Entry, tarOf } from '../../scripts/rootFileSystem.js'
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

it('another binary of Node than the pinned one is refused', () => {
  const binary = Buffer.from('a binary')
  const pinned = createHash('sha256').update(binary).digest('hex')
  expect(checkedNode(binary, pinned)).toBe(binary)
  expect(() => checkedNode(binary)).toThrow('not the pinned one')
})
