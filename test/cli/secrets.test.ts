import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPrivateKey } from '../../src/cli/input/secrets.js'
import { CommandError } from '../../src/terminal/failure.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const KEY = `0x${'5a'.repeat(32)}`
const SOURCE = { variable: 'TRADING_PRIVATE_KEY', option: 'key-file', value: undefined, file: undefined }

async function keyFile(text: string, mode = 0o600): Promise<string> {
  const path = join(await temporaryDirectory(), 'key')
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}

function refusal(source: Partial<Record<'value' | 'file', string>>): string {
  try {
    readPrivateKey({ ...SOURCE, ...source })
  } catch (error) {
    if (error instanceof CommandError) return error.message
  }
  throw new Error('the key was taken')
}

describe('the private key', () => {
  it('comes from the environment, or from a file that its owner alone can read', async () => {
    expect(readPrivateKey({ ...SOURCE, value: KEY })).toBe(KEY)
    expect(readPrivateKey({ ...SOURCE, file: await keyFile(`${KEY}\n`) })).toBe(KEY)
    expect(refusal({ file: await keyFile(KEY, 0o640) })).toContain('chmod 600')
  })

  it('is missed, and not guessed at when given twice', async () => {
    expect(refusal({})).toBe('set TRADING_PRIVATE_KEY, or name a file with --key-file')
    expect(refusal({ value: KEY, file: await keyFile(KEY) })).toContain('both given')
    expect(refusal({ file: '/absent' })).toBe('the file of --key-file cannot be read')
  })

  it.each([
    ['without 0x', '5a'.repeat(32)],
    ['too short', `0x${'5a'.repeat(31)}`],
    ['zero', `0x${'00'.repeat(32)}`],
    ['above the order', `0x${'ff'.repeat(32)}`],
    ['much too long', 'a'.repeat(5_000)],
  ])('is refused without being quoted: %s', async (_, text) => {
    const messages = [refusal({ value: text }), refusal({ file: await keyFile(text) })]
    for (const message of messages) expect(message).not.toContain(text.slice(0, 40))
  })
})
