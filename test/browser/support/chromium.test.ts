import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { chromiumPath, NoChromiumError } from './chromium.js'

/** A directory with programs of these names in it. */
async function directoryWith(...names: string[]): Promise<string> {
  const directory = await temporaryDirectory()
  for (const name of names) {
    await writeFile(join(directory, name), '')
    await chmod(join(directory, name), 0o755)
  }
  return directory
}

test('the browser without windows comes first, then the usual name, wherever in PATH it is', async () => {
  const chrome = await directoryWith('google-chrome')
  const both = await directoryWith('chromium', 'google-chrome')
  const PATH = [chrome, both].join(delimiter)
  expect(chromiumPath({ PATH })).toBe(join(both, 'chromium'))
  expect(chromiumPath({ PATH: chrome })).toBe(join(chrome, 'google-chrome'))
  const shell = await directoryWith('chromium-headless-shell')
  expect(chromiumPath({ PATH: [PATH, shell].join(delimiter) })).toBe(join(shell, 'chromium-headless-shell'))
})

test('CHROMIUM_PATH goes before PATH', async () => {
  const directory = await directoryWith('chromium', 'mine')
  const CHROMIUM_PATH = join(directory, 'mine')
  expect(chromiumPath({ PATH: directory, CHROMIUM_PATH })).toBe(CHROMIUM_PATH)
})

test('a file that is no program is not taken for one, and the error says what to do', async () => {
  const directory = await temporaryDirectory()
  await writeFile(join(directory, 'chromium'), '')
  await mkdir(join(directory, 'google-chrome'))
  const find = (environment: Record<string, string>) => () => chromiumPath(environment)
  expect(find({ PATH: directory })).toThrow(NoChromiumError)
  expect(find({ PATH: directory })).toThrow('apt-get install -y chromium-headless-shell')
  const CHROMIUM_PATH = join(directory, 'absent')
  expect(find({ PATH: await directoryWith('chromium'), CHROMIUM_PATH })).toThrow(CHROMIUM_PATH)
})
