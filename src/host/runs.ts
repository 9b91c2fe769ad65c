import type { RemoteJob, RunResult } from '../protocol/job.js'
import { Problem } from '../server/http/problems.js'
import type { Service } from '../server/lifetime.js'
import { createPoller } from '../server/poller.js'
import { logRunEnd } from '../server/trigger/runs/runLog.js'
import type { EnclaveRunner, RunEnd } from '../server/trigger/runs/runner.js'
import { createKeyedLock } from '../service/keyedLock.js'
import { describeError, type Logger } from '../service/logger.js'
import { type Delivery, KEPT_AFTER_STOP_MS } from './delivery.js'
import type { HostedRun, HostedRunRecords } from './records.js'

/** The runs of a host: each job is run once, however often it is offered, and its result posted. */
export interface HostedRuns {
  /**
   * Notes the job on disk, then has its run begin.
   * @throws Problem `run-too-late`, `order-under-way`, `too-many-runs`; StorageError. Nothing has begun then
   */
  accept(job: RemoteJob): Promise<'accepted' | 'already-accepted'>
  /** In the order in which they start: before anything is accepted. */
  readonly services: readonly Service[]
}

interface HostedRunsOptions {
  readonly records: HostedRunRecords
  readonly runner: Pick<EnclaveRunner, 'run' | 'attach'>
  readonly delivery: Delivery
  readonly maxRuns: number
  readonly logger: Logger
}

/** Between two looks for what may be forgotten. */
const SWEEP_INTERVAL_MS = 60_000

export function createHostedRuns(options: HostedRunsOptions): HostedRuns {
  const { records, runner, delivery, maxRuns, logger } = options
  /** The order of each run under way; null for one about no order. */
  const underWay = new Map<string, string | null>()
  const lock = createKeyedLock()

  async function start(job: RemoteJob): Promise<void> {
    const { runId, stopAt } = job
    const orderId = job.job === 'order' ? job.orderId : null
    const run: HostedRun = { runId, orderId, stopAt, process: null, result: null }
    const toRun = { ...job, resultFile: records.resultPath(runId) }
    const { end } = await runner.run(toRun, (process) => records.put({ ...run, process }))
    void follow(run, end)
  }

  /** To the run's end, and its result to the server. */
  async function follow(run: HostedRun, ending: Promise<RunEnd>): Promise<void> {
    const end = await ending
    const result = resultOf(end)
    logRunEnd(logger, 'enclave run ended', end, {
      runId: run.runId,
      reason: end.how,
      exitCode: end.exitCode,
      outcome: result.outcome,
    })
    try {
      await records.put({ ...run, result })
    } catch (error) {
      // The next start finds what the enclave has left, and posts it again.
      logger.error('result not recorded', { runId: run.runId, ...describeError(error) })
    }
    underWay.delete(run.runId)
    await delivery.deliver({ ...run, result })
  }

  function check({ runId, stopAt, ...job }: RemoteJob): void {
    if (stopAt * 1_000 <= Date.now()) throw new Problem('run-too-late')
    const orders = [...underWay].flatMap(([other, orderId]) => (other === runId ? [] : [orderId]))
    if (job.job === 'order' && orders.includes(job.orderId)) throw new Problem('order-under-way')
    if (orders.length >= maxRuns) throw new Problem('too-many-runs')
  }

  /** What an earlier host has left: runs under way, and results that the server may not have. */
  async function resume(): Promise<void> {
    for (const run of await records.all()) {
      const { runId, stopAt, process, result, orderId } = run
      if (result !== null) {
        void delivery.deliver({ runId, stopAt, result })
        continue
      }
      underWay.set(runId, orderId)
      void follow(run, runner.attach({ runId, process, stopAt, resultFile: records.resultPath(runId) }))
    }
  }

  /** A job past its time is refused in any case, so that its run need not be remembered for long. */
  async function sweep(): Promise<void> {
    for (const { runId, stopAt } of await records.all()) {
      const isOver = Date.now() > stopAt * 1_000 + KEPT_AFTER_STOP_MS
      if (isOver && !underWay.has(runId)) await records.remove(runId)
    }
  }

  return {
    accept: (job) =>
      lock.run(job.runId, async () => {
        if (underWay.has(job.runId) || (await records.get(job.runId)) !== undefined) return 'already-accepted'
        check(job)
        underWay.set(job.runId, job.job === 'order' ? job.orderId : null)
        try {
          await start(job)
        } catch (error) {
          underWay.delete(job.runId)
          throw error
        }
        return 'accepted'
      }),
    services: [
      { name: 'runs', start: resume, async stop() {} },
      createPoller({ name: 'forgotten runs', intervalMs: SWEEP_INTERVAL_MS, tick: sweep, logger }),
    ],
  }
}

/** What the server is told: a run without a result has failed, with how it ended as its code, and the notice if any. */
function resultOf({ how, result }: RunEnd): RunResult {
  if (how === 'result' && result !== null) return result
  return { code: how === 'timeout' ? 'out-of-time' : how, ...result, outcome: 'failed' }
}
