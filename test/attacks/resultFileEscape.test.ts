// Who: an attacker in the program that starts the enclave, or in the server that posts jobs to it. He has no
// right on the enclave's files.
// Cost: one job with a path of his choice in `resultFile`, or a link under the name of the file that the enclave
// writes first.
// Effect: the enclave wrote to any path in the job, and through links. A job that named the enclave's own
// configuration left `{"outcome":"failed"}` in the place of LEDGER_MASTER_KEY. Without a backup of that key
// the record of every balance is lost.
// Now: a run writes one file, named after the run, in the directory that the environment names and the job
// cannot. It follows no link on the way. Readers of results follow no link either, and do not block on a pipe.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { signRunMessage } from '../../src/protocol/runMessage.js'
import { readResultFile } from '../../src/server/trigger/processRunner.js'
import { startProgram } from '../e2e/support/program.js'
import { enclaveEnvironment } from '../enclave/support/environment.js'
import { built } from '../support/built.js'
import { orderJob, startResultServer, startTestResident } from '../support/residentHarness.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const CONFIGURATION = Object.entries(enclaveEnvironment)
  .map(([name, value]) => `${name}=${value}\n`)
  .join('')

/** An enclave whose node is away, so that each of its runs soon ends with a failure to write down. */
async function setUp() {
  const directory = await temporaryDirectory()
  const results = join(directory, 'runs')
  await mkdir(results, { mode: 0o700 })
  const envFile = join(directory, '.env.enclave')
  await writeFile(envFile, CONFIGURATION, { mode: 0o600 })
  const runId = randomUUID()
  const named = join(results, `${runId}.result`)
  const run = async (resultFile: string) => {
    const job = { ...(await orderJob()), runId, resultFile }
    const env = { ENCLAVE_ENV_FILE: envFile, ENCLAVE_RESULT_DIR: results }
    const program = startProgram(built('enclave/main.js'), [], { env, input: JSON.stringify(job) })
    return { exit: await program.exit, err: program.err() }
  }
  return { directory, results, envFile, runId, named, run }
}

test('a run writes the file of its own name in the directory that its starter names', async () => {
  const { results, runId, named, run } = await setUp()
  expect(await run(named)).toEqual({ exit: 0, err: '' })
  expect(await readdir(results)).toEqual([`${runId}.result`])
  expect(JSON.parse(await readFile(named, 'utf8'))).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
})

test('a job that names the enclave’s own configuration does not replace it', async () => {
  const { directory, envFile, run } = await setUp()
  const refused = await run(envFile)
  expect(await readFile(envFile, 'utf8')).toBe(CONFIGURATION)
  expect(await readdir(directory)).toEqual(['.env.enclave', 'runs'])
  expect(refused.exit).toBe(1)
  expect(refused.err).not.toContain(envFile)
})

test('no way of writing a path leads out of the directory, or to another run’s file', async () => {
  const { directory, results, runId, run } = await setUp()
  const other = `${randomUUID()}.result`
  const paths = [
    join(directory, `${runId}.result`),
    `${results}/../${runId}.result`,
    `${results}/../runs/../${runId}.result`,
    `${results}/sub/../../${runId}.result`,
    `${results}/${other}`,
    `${results}/${runId}.result/../../.env.enclave`,
    `${results}/${runId}.result\0.env`,
    `runs/${runId}.result`,
    '',
  ]
  for (const path of paths) expect((await run(path)).exit, JSON.stringify(path)).toBe(1)
  expect(await readdir(results)).toEqual([])
  expect(await readdir(directory)).toEqual(['.env.enclave', 'runs'])
})

test.each([
  ['a symbolic link', symlink],
  ['a hard link', link],
])('%s under the name of the file that is written first leads to nothing', async (_what, make) => {
  const { envFile, named, run } = await setUp()
  await make(envFile, `${named}.tmp`)
  await make(envFile, named)
  expect(await run(named)).toEqual({ exit: 0, err: '' })
  expect(await readFile(envFile, 'utf8')).toBe(CONFIGURATION)
  expect(JSON.parse(await readFile(named, 'utf8'))).toMatchObject({ outcome: 'failed' })
})

test('a run without a directory writes nothing', async () => {
  const { results, envFile, runId, named } = await setUp()
  const input = JSON.stringify({ ...(await orderJob()), runId, resultFile: named })
  const program = startProgram(built('enclave/main.js'), [], { env: { ENCLAVE_ENV_FILE: envFile }, input })
  expect(await program.exit).toBe(1)
  expect(program.err()).toContain('ENCLAVE_RESULT_DIR')
  expect(await readdir(results)).toEqual([])
})

test('an enclave that stays up takes no path from a server, not even a signed one', async () => {
  const directory = await temporaryDirectory()
  const { url: serverUrl } = await startResultServer()
  const jobs: unknown[] = []
  const enclave = await startTestResident(
    async (taken) => {
      jobs.push(taken)
      return { outcome: 'done' }
    },
    { serverUrl, stateDirectory: join(directory, 'state') },
  )
  const job = await orderJob()
  const attempts = [
    { ...job, resultFile: join(directory, 'enclave.env') },
    { ...job, runId: '../../enclave.env' },
    { ...job, runId: `${job.runId}/../../../enclave` },
  ]
  for (const attempt of attempts) {
    const body = JSON.stringify(attempt)
    const response = await fetch(enclave.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signRunMessage(RUN_SECRET, { kind: 'job', runId: attempt.runId, body }),
      },
      body,
    })
    expect([400, 401], body).toContain(response.status)
  }
  expect(jobs).toEqual([])
})

test('the reader of a result follows no link, and waits for no pipe', async () => {
  const directory = await temporaryDirectory()
  const at = (name: string) => join(directory, name)
  await writeFile(at('real.result'), '{"outcome":"settled"}')
  expect(await readResultFile(at('real.result'))).toEqual({ kind: 'result', result: { outcome: 'settled' } })
  await symlink(at('real.result'), at('link.result'))
  await promisify(execFile)('mkfifo', [at('pipe.result')])
  await chmod(at('pipe.result'), 0o600)
  await mkdir(at('folder.result'))
  for (const name of ['link.result', 'pipe.result', 'folder.result'])
    expect(await readResultFile(at(name)), name).toEqual({ kind: 'garbage' })
})
