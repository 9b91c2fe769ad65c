import { chmod, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  readPrivateFile,
  SharedFileError,
  stateOfPrivateFile,
  writeNewFile,
} from '../../src/service/privateFile.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

async function fileOf(mode: number): Promise<string> {
  const path = join(await temporaryDirectory(), 'keys.env')
  await writeFile(path, 'KEY=canary\n')
  await chmod(path, mode)
  return path
}

describe('a file with keys', () => {
  test('behind a link counts by its own mode', async () => {
    const path = await fileOf(0o644)
    await symlink(path, `${path}.link`)
    expect(() => readPrivateFile(`${path}.link`)).toThrow(SharedFileError)
    await chmod(path, 0o600)
    expect(readPrivateFile(`${path}.link`).toString()).toContain('canary')
  })

  test('is made whole or not at all, and never in the place of another', async () => {
    const directory = await temporaryDirectory()
    const path = join(directory, 'token')
    // What an interrupted write leaves is no file with keys.
    await writeFile(`${path}.1.part`, 'to', { mode: 0o600 })
    expect(await stateOfPrivateFile(path)).toBe('unreadable')
    writeNewFile(path, 'token\n')
    expect(readPrivateFile(path).toString()).toBe('token\n')
    expect(() => writeNewFile(path, 'another\n')).toThrow(expect.objectContaining({ code: 'EEXIST' }))
    expect(readPrivateFile(path).toString()).toBe('token\n')
    expect(await readdir(directory)).toEqual(['token', 'token.1.part'])
  })
})
