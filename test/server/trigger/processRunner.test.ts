import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Job } from '../../../src/protocol/job.js'
import { createProcessRunner } from '../../../src/server/trigger/processRunner.js'
import type { EnclaveRunner } from '../../../src/server/trigger/runner.js'
import { identityOf, isRunning, type ProcessIdentity } from '../../../src/service/processIdentity.js'
import { built } from '../../support/built.js'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createScriptedEnclave, type Step } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const ORDER = bytes32('an order')

async function setUp(step: Step, seconds = 60) {
  const directory = await temporaryDirectory()
  const enclave = createScriptedEnclave(directory)
  await enclave.plan({ any: [step] })
  const { command, envFile } = enclave
  const runner = createProcessRunner({
    command,
    envFile,
    searchPath: '/usr/bin:/bin',
    resultDirectory: directory,
  })
  const runId = randomUUID()
  const job: Job = {
    job: 'order',
    runId,
    orderId: ORDER,
    resultFile: `${directory}/${runId}.result`,
    stopAt: Math.floor(Date.now() / 1_000) + seconds,
    envelope: await sealOrder('secret'),
  }
  return { enclave, runner, job, directory }
}

/** Starts a run that is noted at once. */
async function startRun(runner: EnclaveRunner, job: Job) {
  let process: ProcessIdentity | null = null
  const { end } = await runner.run(job, async (noted) => {
    process = noted
  })
  return { process: processOf(process), end }
}

/** Hides the variable from the compiler, which does not see that a callback has set it. */
function processOf(process: ProcessIdentity | null): ProcessIdentity | null {
  return process
}

const expectNoneOfGroup = (group: number) =>
  eventually('the end of the whole group', () => {
    try {
      process.kill(-group, 0)
      return false
    } catch {
      return true
    }
  })

describe('a run', () => {
  test('gets its job on standard input, and of the environment only the search path and its own file', async () => {
    process.env.RELAYER_PRIVATE_KEY = 'canary-of-the-relayer'
    const { enclave, runner, job, directory } = await setUp({ outcome: 'settled' })
    const end = await (await startRun(runner, job)).end
    delete process.env.RELAYER_PRIVATE_KEY
    expect(end).toEqual({ how: 'result', exitCode: 0, result: { outcome: 'settled' } })
    const [note] = await enclave.notes()
    expect(note?.job).toEqual(job)
    expect(note?.argv).toEqual([])
    expect(note?.env).toEqual({
      PATH: '/usr/bin:/bin',
      ENCLAVE_ENV_FILE: enclave.envFile,
      ENCLAVE_RESULT_DIR: directory,
    })
  })

  test.each<[string, Step, object]>([
    ['exits without a result', { exit: 3 }, { how: 'no-result', exitCode: 3, result: null }],
    ['leaves what is no result', { act: 'garbage' }, { how: 'garbage', exitCode: 0, result: null }],
    [
      'leaves a result that is not one of the protocol',
      { outcome: 'done', retryAt: -1 },
      { how: 'garbage', exitCode: 0, result: null },
    ],
    [
      'prints two megabytes',
      { act: 'babble', outcome: 'done' },
      { how: 'result', exitCode: 0, result: { outcome: 'done' } },
    ],
    [
      'leaves a result and exits non-zero',
      { outcome: 'placed', exit: 7 },
      { how: 'result', exitCode: 7, result: { outcome: 'placed' } },
    ],
  ])('that %s', async (_what, step, end) => {
    const { runner, job } = await setUp(step)
    expect(await (await startRun(runner, job)).end).toEqual(end)
  })

  test('that cannot be started', async () => {
    const { job, enclave, directory } = await setUp({})
    const runner = createProcessRunner({
      command: ['/no/such/program'],
      envFile: '',
      searchPath: '',
      resultDirectory: directory,
    })
    const started = await startRun(runner, job)
    expect(started.process).toBeNull()
    expect(await started.end).toEqual({ how: 'not-started', exitCode: null, result: null })
    const notExecutable = createProcessRunner({
      command: [enclave.envFile],
      envFile: '',
      searchPath: '',
      resultDirectory: directory,
    })
    expect((await (await startRun(notExecutable, job)).end).how).toBe('not-started')
  })

  test('gets its job only once it is noted', async () => {
    const { job, directory } = await setUp({})
    const [up, got] = [`${directory}/up`, `${directory}/got`]
    const command = ['/bin/sh', '-c', 'touch "$0"; cat > "$1"', up, got]
    const runner = createProcessRunner({
      command,
      envFile: '',
      searchPath: '/usr/bin:/bin',
      resultDirectory: directory,
    })
    const { end } = await runner.run(job, async (process) => {
      expect(process && isRunning(process)).toBe(true)
      await eventually('the process', () => existsSync(got))
      expect(await readFile(got, 'utf8')).toBe('')
    })
    await end
    expect(JSON.parse(await readFile(got, 'utf8'))).toEqual(job)
  })

  test('that cannot be noted is killed before it has a job', async () => {
    const { runner, job, enclave } = await setUp({ outcome: 'settled' })
    const failure = new Error('no room')
    let process: ProcessIdentity | null = null
    const starting = runner.run(job, async (noted) => {
      process = noted
      throw failure
    })
    await expect(starting).rejects.toBe(failure)
    await expectNoneOfGroup(processOf(process)?.pid ?? 0)
    expect(await enclave.notes()).toEqual([])
  })

  test('whose server dies before it is noted ends without a job', async () => {
    const { enclave, directory } = await setUp({ outcome: 'settled' })
    const module = JSON.stringify(built('server/trigger/processRunner.js'))
    const options = JSON.stringify({ ...enclave, searchPath: '/usr/bin:/bin', resultDirectory: directory })
    const script = `
      import { writeFileSync } from 'node:fs'
      import { createProcessRunner } from ${module}
      const job = { job: 'reconcile', runId: 'a', resultFile: '/dev/null', stopAt: Date.now() }
      await createProcessRunner(${options}).run(job, async ({ pid }) => {
        writeFileSync(${JSON.stringify(`${directory}/pid`)}, String(pid))
        process.kill(process.pid, 'SIGKILL')
      })`
    const server = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
    await once(server, 'exit')
    await expectNoneOfGroup(Number(await readFile(`${directory}/pid`, 'utf8')))
    expect(await enclave.notes()).toEqual([])
  })

  test('that exits before it has read its job', async () => {
    const { job, directory } = await setUp({})
    const runner = createProcessRunner({
      command: ['/bin/false'],
      envFile: '',
      searchPath: '',
      resultDirectory: directory,
    })
    expect(await (await startRun(runner, job)).end).toEqual({ how: 'no-result', exitCode: 1, result: null })
  })

  test('that hangs and ignores SIGTERM is asked to stop, then killed', async () => {
    const { runner, job, enclave } = await setUp({ act: 'hang' }, 2)
    const started = await startRun(runner, job)
    expect(await started.end).toEqual({ how: 'timeout', exitCode: null, result: null })
    expect((await enclave.notes()).map(({ event }) => event)).toEqual(['started', 'SIGTERM'])
    expect(started.process && isRunning(started.process)).toBe(false)
  })

  test('that hangs after it has left a notice keeps the notice', async () => {
    const notice = await sealOrder('why')
    const early = { outcome: 'failed', notice } as const
    const { runner, job } = await setUp({ act: 'hang', early }, 2)
    expect(await (await startRun(runner, job)).end).toEqual({ how: 'timeout', exitCode: null, result: early })
  })

  test('leaves no process behind in its group', async () => {
    const { runner, job } = await setUp({ act: 'fork', outcome: 'done' })
    const started = await startRun(runner, job)
    expect((await started.end).result).toEqual({ outcome: 'done' })
    await expectNoneOfGroup(started.process?.pid ?? 0)
  })

  test('leads a process group of its own', async () => {
    const { runner, job } = await setUp({ act: 'hang' })
    const started = await startRun(runner, job)
    process.kill(-(started.process?.pid ?? 0), 'SIGKILL')
    expect(await started.end).toEqual({ how: 'no-result', exitCode: null, result: null })
  })
})

describe('a run of an earlier server', () => {
  /** A child of this process stands for one whose parent is gone: `attach` gets nothing but its identity. */
  async function earlier(step: Step, seconds = 60) {
    const { runner, job, ...rest } = await setUp(step, seconds)
    const { process: identity, end } = await startRun(runner, job)
    if (identity === null) throw new Error('not started')
    const { runId, resultFile, stopAt } = job
    return { runner, job, end, run: { runId, process: identity, resultFile, stopAt }, ...rest }
  }

  test('is waited for, and its result read', async () => {
    const { runner, run } = await earlier({ outcome: 'placed', waitMs: 500 })
    expect(await runner.attach(run)).toEqual({
      how: 'result',
      exitCode: null,
      result: { outcome: 'placed' },
    })
  })

  test('is killed at its time', async () => {
    const { runner, run } = await earlier({ act: 'hang' }, 2)
    expect(await runner.attach(run)).toMatchObject({ result: null })
    expect(isRunning(run.process)).toBe(false)
  })

  test('is killed after the time that it was given, also when the clock was set back since its start', async () => {
    const { runner, run } = await earlier({ act: 'hang' })
    const startedAt = Date.now() + 3_600_000
    const ahead = { ...run, startedAt, stopAt: Math.ceil(startedAt / 1_000) + 1 }
    expect(await runner.attach(ahead)).toMatchObject({ result: null })
    expect(isRunning(run.process)).toBe(false)
  })

  test('that hangs for longer than 30 s after its time is killed, too', async () => {
    const { runner, run } = await earlier({ act: 'hang' })
    const stopAt = Math.floor(Date.now() / 1_000) - 60
    expect(await runner.attach({ ...run, stopAt })).toMatchObject({ how: 'timeout', result: null })
    await expectNoneOfGroup(run.process.pid)
  })

  test('that has ended is read at once', async () => {
    const { runner, run, end } = await earlier({ outcome: 'settled' })
    await end
    expect(await runner.attach(run)).toMatchObject({ how: 'result', result: { outcome: 'settled' } })
  })

  test('leaves no process behind in its group when no server saw it exit', async () => {
    const { runner, job, enclave } = await setUp({ act: 'fork', outcome: 'done' })
    const [program = '', ...args] = enclave.command
    const env = { PATH: '/usr/bin:/bin', ENCLAVE_ENV_FILE: enclave.envFile }
    const child = spawn(program, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env })
    const identity = identityOf(child.pid ?? 0)
    child.stdin.end(JSON.stringify(job))
    await once(child, 'exit')
    const { runId, resultFile, stopAt } = job
    const run = { runId, process: identity, resultFile, stopAt }
    expect(await runner.attach(run)).toMatchObject({ how: 'result' })
    await expectNoneOfGroup(identity.pid)
  })

  test('with an unknown process counts as ended once its result is final, else 30 s after its time', async () => {
    const { runner, run, end } = await earlier({ outcome: 'settled' })
    await end
    const unknown = { ...run, process: null }
    expect(await runner.attach(unknown)).toMatchObject({ how: 'result', result: { outcome: 'settled' } })
    const long = Math.floor(Date.now() / 1_000) - 30
    const lost = { runId: run.runId, process: null, resultFile: `${run.resultFile}.none`, stopAt: long }
    expect(await runner.attach(lost)).toEqual({ how: 'timeout', exitCode: null, result: null })
  })

  test('whose pid now belongs to another process is not taken for running, nor killed', async () => {
    const { runner, run, end } = await earlier({ outcome: 'settled' })
    await end
    const other = { ...identityOf(process.pid), startedAt: '1' }
    expect(await runner.attach({ ...run, process: other })).toMatchObject({ how: 'result' })
  })
})
