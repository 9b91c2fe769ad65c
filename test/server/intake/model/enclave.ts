import { commitOf } from '../../../../src/protocol/envelope.js'
import type { Hex } from '../../../../src/protocol/hex.js'
import type { Job, RunResult } from '../../../../src/protocol/job.js'
import type { EnclaveRunner, RunEnd } from '../../../../src/server/trigger/runner.js'

/** A run that a server has started. */
export interface ModelRun {
  readonly orderId: Hex
  /** The commit of its envelope. */
  readonly commit: Hex | null
  readonly end: PromiseWithResolvers<RunEnd>
  isOver: boolean
}

export type ModelEnclave = ReturnType<typeof createModelEnclave>

/** An enclave whose runs last until the test ends them, and longer than servers. */
export function createModelEnclave(onStart: (run: ModelRun) => void) {
  const runs: ModelRun[] = []
  const byId = new Map<string, ModelRun>()
  function start(job: Job): ModelRun {
    if (job.job !== 'order') throw new Error('no other job is due')
    const commit = job.envelope === undefined ? null : commitOf(job.envelope)
    const run: ModelRun = { orderId: job.orderId, commit, end: Promise.withResolvers(), isOver: false }
    onStart(run)
    runs.push(run)
    byId.set(job.runId, run)
    return run
  }
  /** Whether it was given the order's envelope, by this run or an earlier one. */
  function isHeld({ orderId }: ModelRun): boolean {
    return runs.some((run) => run.orderId === orderId && run.commit !== null)
  }
  const runner: EnclaveRunner = {
    // The runs that it was given outlive the server.
    offerAgain() {},
    run: (job) => start(job).end.promise,
    // A run that was noted and never started has left nothing.
    attach: async ({ runId }) => byId.get(runId)?.end.promise ?? { how: 'timeout', result: null },
  }
  return {
    runs,
    runner,
    /** Ends the oldest run under way, if there is one. Of what it does not hold it knows nothing to do. */
    endNext(result: RunResult): ModelRun | undefined {
      const run = runs.find(({ isOver }) => !isOver)
      if (run === undefined) return undefined
      run.isOver = true
      run.end.resolve({ how: 'result', result: isHeld(run) ? result : withoutEnvelope(result) })
      return run
    },
  }
}

function withoutEnvelope(result: RunResult): RunResult {
  return result.outcome === 'failed' ? result : { outcome: 'rejected' }
}
