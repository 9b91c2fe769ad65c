// A sandbox that is ended before it is up, in the middle of its work, or without a chance to clear up.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { expect, it } from 'vitest'
import { ROOT } from '../../src/sandbox/settings.js'
import { eventually } from '../support/eventually.js'
import { ENCLAVE_KEYS, expectNothingLeft, interrupt, startSandbox } from './support/sandboxProgram.js'

it.each([
  ['while it starts', / chain {2}/],
  ['while an enclave run is under way', /enclave run 1: under way/],
])('Ctrl-C %s ends everything, with no word of what failed by it', async (_when, moment) => {
  const sandbox = await startSandbox(['--once'])
  await eventually(String(moment), () => moment.test(sandbox.out()))
  interrupt(sandbox)
  expect(await sandbox.exit).toBe(130)
  expect(sandbox.err()).toBe('')
  await expectNothingLeft(sandbox)
})

it('a sandbox that was killed leaves files that the next one clears', async () => {
  const killed = await startSandbox()
  await eventually('the page', () => /s {2}desk {2}/.test(killed.out()))
  if (killed.child.pid !== undefined) process.kill(-killed.child.pid, 'SIGKILL')
  expect(await killed.exit).toBe(null)
  await expectNothingLeft(killed)
  const left = await stat(join(killed.directory, 'server', 'server.db'))

  const next = await startSandbox(['--once', '--file-keys'], ROOT, killed.directory)
  expect(await next.exit, next.err()).toBe(0)
  const enclave = parse(await readFile(join(killed.directory, '.env.enclave'), 'utf8'))
  expect(Object.keys(enclave)).toEqual(expect.arrayContaining(ENCLAVE_KEYS))
  // A new file may get the number of the old one, but not its time.
  expect((await stat(join(killed.directory, 'server', 'server.db'))).birthtimeMs).not.toBe(left.birthtimeMs)
})
