import { existsSync } from 'node:fs'
import { type RequestListener, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Job, ProvisionalResult, RunResult } from '../../src/protocol/job.js'
import { startRawServer } from './rawServer.js'
import { startTestResident } from './residentHarness.js'

/** The script of one run: it ends with this result, or misbehaves. */
export type Step = Partial<RunResult> & {
  /** Before it goes on. */
  waitMs?: number
  /** Goes on once this file exists. */
  untilFile?: string
  /** Reported at once, before the wait, as the real enclave reports a notice. */
  early?: ProvisionalResult
  /** Works until its time is over, or throws. */
  act?: 'hang' | 'throw'
}

/** A note that a run of it left. */
export interface Note {
  event: 'started' | 'ended'
  at: number
  runId: string
  key: string
  job: Job
}

export type ScriptedEnclave = Awaited<ReturnType<typeof createScriptedEnclave>>

const FOLLOW_UP_FAR_AHEAD: Step = { outcome: 'placed', retryAt: 4_000_000_000 }
const FILE_POLL_MS = 20

/**
 * The real door, run table and delivery of an enclave, whose runs do what the plan says and note what they were given. It stays up across
 * the servers of its test, and ends with the test.
 * @param directory keeps its run table
 */
export async function createScriptedEnclave(directory: string) {
  const notes: Note[] = []
  const over = new AbortController()
  let plan: Record<string, Step[]> = {}
  let server: string | RequestListener | undefined

  function stepOf(key: string): Step {
    const steps = plan[key] ?? plan.any ?? [FOLLOW_UP_FAR_AHEAD]
    const before = notes.filter((note) => note.event === 'started' && note.key === key).length
    return steps[Math.min(before - 1, steps.length - 1)] ?? FOLLOW_UP_FAR_AHEAD
  }

  const pause = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined)

  async function run(job: Job, report: (result: RunResult) => Promise<void>): Promise<RunResult> {
    const { runId } = job
    const key = job.job === 'order' ? job.orderId : job.job
    const note = (event: Note['event']) => notes.push({ event, at: Date.now(), runId, key, job })
    note('started')
    const { act, waitMs = 0, untilFile, early, outcome, ...rest } = stepOf(key)
    if (early !== undefined) await report({ ...early, outcome: 'failed' })
    await pause(waitMs)
    while (untilFile !== undefined && !existsSync(untilFile) && !over.signal.aborted)
      await pause(FILE_POLL_MS)
    if (act === 'hang') await pause(Math.max(0, job.stopAt * 1_000 - Date.now()))
    note('ended')
    if (act === 'throw') throw new Error('as the plan says')
    if (act === 'hang') return { outcome: 'failed', code: 'out-of-time', ...early }
    return { outcome: outcome ?? 'failed', ...rest }
  }

  const serverUrl = await startRawServer((req, res) => {
    if (server === undefined) res.writeHead(503).end()
    else if (typeof server !== 'string') server(req, res)
    else {
      const { method, headers } = req
      const onward = request(server + req.url, {
        method,
        headers: { ...headers, host: new URL(server).host },
      })
      onward.on('response', (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 502)))
      onward.on('error', () => res.destroy())
      req.pipe(onward)
    }
  })
  const settings = { serverUrl, stateDirectory: join(directory, 'enclave'), maxRuns: 256 }
  const { url } = await startTestResident(run, settings)
  // Before the enclave's stop, which waits for its runs.
  onTestFinished(() => over.abort())
  return {
    /** Where it takes jobs. */
    url,
    /**
     * Names where its notices and results arrive from now on: the base URL of a server, or its routes. They are lost while none is
     * named, and posted again.
     */
    postTo(to: string | RequestListener | undefined) {
      server = to
    },
    notes: async (): Promise<readonly Note[]> => notes,
    /** The steps by orderId, or `policy`, `resolve`, `reconcile`, `any`; each run takes the next one and the last one repeats. */
    async plan(steps: Record<string, Step[]>) {
      plan = steps
    },
    /** The jobs of the runs, in the order in which they started. */
    jobs: async () => notes.filter(({ event }) => event === 'started').map(({ job }) => job),
  }
}
