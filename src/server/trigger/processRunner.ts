import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, type RunResult, runResultSchema } from '../../protocol/job.js'
import { identityOf, isReplaced, isRunning, ownIdentity } from '../../service/processIdentity.js'
import { withTimeout } from '../../service/waiting.js'
import {
  type EarlierRun,
  type EnclaveRunner,
  MAX_RESULT_BYTES,
  type NoteRun,
  type RunEnd,
  STOPPED_AFTER_MS,
  type StartedRun,
  timeLeft,
} from './runner.js'

interface ProcessRunnerOptions {
  /** Program and arguments. */
  readonly command: readonly string[]
  /** The enclave's own configuration, a path that is handed on. */
  readonly envFile: string
  /** Where the program is looked for, as in a shell. */
  readonly searchPath: string
  /** The one directory that runs write their results to; absolute. */
  readonly resultDirectory: string
}

/** Between asking a process to stop and killing it. */
const KILL_GRACE_MS = 3_000
const ATTACH_POLL_MS = 250
const NOT_STARTED: RunEnd = { how: 'not-started', exitCode: null, result: null }

/**
 * Runs the enclave as a detached process in a group of its own, so that it outlives this server. It inherits neither the
 * environment, which holds the relayer's key, nor an open file.
 */
export function createProcessRunner(options: ProcessRunnerOptions): EnclaveRunner {
  return {
    run: (job, note) => startProcess(options, job, note),
    attach: attachToProcess,
    // A process without its job exits once its server is gone.
    offerAgain: () => undefined,
    // The process exits a moment later.
    seenOnChain: () => undefined,
  }
}

/**
 * The job comes last: the process waits for it, and exits without one when this server dies before the run is recorded.
 * Otherwise a run could go on that no server knows of.
 */
async function startProcess(options: ProcessRunnerOptions, job: Job, note: NoteRun): Promise<StartedRun> {
  const child = spawnDetached(options)
  if (child === undefined) return { end: Promise.resolve(NOT_STARTED) }
  const { pid } = child
  const exit = exitOf(child)
  if (pid === undefined) return { end: exit.then(() => NOT_STARTED) }
  // A child that exits before it has read its job breaks the pipe; its exit is handled below.
  child.stdin?.on('error', () => undefined)
  child.unref()
  try {
    await note(identityOf(pid))
  } catch (error) {
    signalGroup(pid, 'SIGKILL')
    throw error
  }
  child.stdin?.end(JSON.stringify(job))
  return { end: supervise(pid, exit, job) }
}

function spawnDetached(options: ProcessRunnerOptions): ChildProcess | undefined {
  const { command, envFile, searchPath, resultDirectory } = options
  const [program = '', ...args] = command
  try {
    mkdirSync(resultDirectory, { recursive: true, mode: 0o700 })
    return spawn(program, args, {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: searchPath, ENCLAVE_ENV_FILE: envFile, ENCLAVE_RESULT_DIR: resultDirectory },
    })
  } catch {
    return undefined
  }
}

interface Exit {
  readonly code: number | null
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  try {
    const [code]: unknown[] = await once(child, 'exit')
    return { code: typeof code === 'number' ? code : null }
  } catch {
    // The spawn failed: `once` rejects on "error".
    return { code: null }
  }
}

/** Waits for the exit, and stops the whole group at `stopAt`, which becomes a monotonic time at the start. */
async function supervise(pid: number, exit: Promise<Exit>, job: Job): Promise<RunEnd> {
  const ms = job.stopAt * 1_000 - Date.now()
  const goneAt = performance.now() + ms + STOPPED_AFTER_MS
  let ended = await withTimeout(exit, ms)
  const timedOut = ended === undefined
  if (timedOut) {
    signalGroup(pid, 'SIGTERM')
    ended = await withTimeout(exit, KILL_GRACE_MS)
  }
  // Also after a normal exit: no process of its group may go on working.
  signalGroup(pid, 'SIGKILL')
  ended ??= await withTimeout(exit, goneAt - performance.now())
  return endOf(job.resultFile, timedOut, ended?.code ?? null)
}

async function endOf(resultFile: string, timedOut: boolean, exitCode: number | null): Promise<RunEnd> {
  const left = await readResultFile(resultFile)
  if (left.kind === 'result') {
    // The run writes a provisional `failed` before it relays a refund: after a time-out the file may still have it.
    const how = timedOut && left.result.outcome === 'failed' ? 'timeout' : 'result'
    return { how, exitCode, result: left.result }
  }
  const how = left.kind === 'garbage' ? 'garbage' : 'no-result'
  return { how: timedOut ? 'timeout' : how, exitCode, result: null }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // No process of the group is left.
  }
}

/** The process is not our child, so only its identity and its result file show its end. */
export async function attachToProcess(run: EarlierRun): Promise<RunEnd> {
  const stopAt = performance.now() + timeLeft(run)
  const known = run.process?.space === ownIdentity().space ? run.process : null
  for (;;) {
    if (known !== null && !isRunning(known)) {
      // The same as after a child's exit. While a process of the group is left, no other group gets its number.
      if (!isReplaced(known)) signalGroup(known.pid, 'SIGKILL')
      return endOf(run.resultFile, false, null)
    }
    if (known === null && (await hasFinalResult(run.resultFile))) return endOf(run.resultFile, false, null)
    const late = performance.now() - stopAt
    if (known !== null && late >= 0) signalGroup(known.pid, late < KILL_GRACE_MS ? 'SIGTERM' : 'SIGKILL')
    if (late >= STOPPED_AFTER_MS) return endOf(run.resultFile, true, null)
    await sleep(ATTACH_POLL_MS, undefined, { ref: false })
  }
}

async function hasFinalResult(resultFile: string): Promise<boolean> {
  const left = await readResultFile(resultFile)
  return left.kind === 'result' && left.result.outcome !== 'failed'
}

/** A link could lead to another file of this user, and opening a pipe could block. */
const NO_LINK_NO_WAIT = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

type ResultFile =
  | { readonly kind: 'absent' | 'garbage' }
  | { readonly kind: 'result'; readonly result: RunResult }

/** Reads the file that a run left. It never throws, because the enclave is another program. */
export async function readResultFile(path: string): Promise<ResultFile> {
  const text = await readBounded(path)
  if (text === undefined) return { kind: 'absent' }
  try {
    return { kind: 'result', result: runResultSchema.parse(JSON.parse(text)) }
  } catch {
    return { kind: 'garbage' }
  }
}

/** Undefined when nothing is there; empty for anything but a regular file; cut at the limit, which makes it garbage. */
async function readBounded(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, NO_LINK_NO_WAIT)
    try {
      if (!(await file.stat()).isFile()) return ''
      const buffer = Buffer.alloc(MAX_RESULT_BYTES)
      const { bytesRead } = await file.read(buffer, 0, MAX_RESULT_BYTES, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    return ''
  }
}
