import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { OLDEST_NODE } from '../../src/service/version.js'
import { runtimeEnvironment } from '../support/runtimeEnvironment.js'

const { engines } = z
  .object({ engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))

/** Has a process say that it is an older Node. */
const preload = (version: string) =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`

const start = (program: string, version: string) =>
  promisify(execFile)(process.execPath, ['--import', preload(version), program, '--help'], {
    env: runtimeEnvironment(),
    timeout: 120_000,
  })

describe('a program started by an older Node', () => {
  test.each([
    'server/main.js',
    'enclave/main.js',
    'enclave/doctor/main.js',
    'cli/main.js',
    'operate/main.js',
    'sandbox/main.js',
  ])('%s ends before it does anything, and says which Node it needs', async (program) => {
    await expect(start(`dist/${program}`, '23.11.0')).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^This program needs Node 24 or newer, and .* is v\d.*\nnpm ci installs .*\n$/,
      ),
    })
  })

  test('goes on with the oldest that package.json names', async () => {
    expect(engines.node).toBe(`>=${OLDEST_NODE}`)
    const { stdout } = await start('dist/cli/main.js', `${OLDEST_NODE}.0.0`)
    expect(stdout).toContain('Usage')
  })
})
