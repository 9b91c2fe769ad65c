import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'

const module = fileURLToPath(new URL('../../src/sandbox/killWithParent.ts', import.meta.url))

/** A program that starts a long-lived child, ties it to itself, prints its id and waits. */
const PARENT = `
import { spawn } from 'node:child_process'
import { killWithParent } from ${JSON.stringify(module)}
const child = spawn('sleep', ['600'])
killWithParent(child)
console.log(child.pid)
`

it('ends the process when the parent is killed outright', async () => {
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PARENT])
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  expect(process.kill(pid, 0)).toBe(true)
  parent.kill('SIGKILL')
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000)
})
