import { commitOf, type Envelope } from '../../protocol/envelope.js'
import { createSlots } from '../async/slots.js'
import { within } from '../async/waiting.js'
import type { Pace } from './pace.js'
import type { RunEnd } from './runs/runner.js'
import type { Run, Runs } from './runs/runs.js'

/** Runs of rulebooks, in slots of their own, so that they can't starve orders. */
export interface PolicyRuns {
  /**
   * Resolves when the run has ended, will not begin, or has not ended by its time. Waiting for a slot and a turn and
   * running share one time-out. The same envelope offered again meanwhile joins its run, which goes on whether or not
   * anybody still waits for it.
   * @throws StorageError; nothing is started then
   */
  run(envelope: Envelope): Promise<PolicyRunEnd>
  /** How many wait for a slot. */
  waiting(): number
}

/** How a run ended, or why none began. */
export type PolicyRunEnd = RunEnd | { readonly how: 'too-many-waiting' | 'no-slot-in-time' | 'stopping' }

/** Two, so that one run that hangs does not stop every institution. */
const SLOTS = 2
const MAX_WAITING = 16
/** An enclave that is stopped at its time has its last word a moment later; the run may count as going on for longer. */
const LAST_WORD_MS = 5_000
const TIMEOUT: PolicyRunEnd = { how: 'timeout', exitCode: null, result: null }

interface PolicyRunsOptions {
  readonly runs: Pick<Runs, 'start'>
  /** When a run may be started. */
  readonly pace: Pick<Pace, 'take'>
  /** Milliseconds from the envelope's arrival to the end of its run. */
  readonly timeoutMs: number
  /** Aborts when the server begins to stop: what still waits for a slot then never starts. */
  readonly stopping: AbortSignal
}

export function createPolicyRuns({ runs, pace, timeoutMs, stopping }: PolicyRunsOptions): PolicyRuns {
  const underWay = new Map<string, Promise<PolicyRunEnd>>()
  const slots = createSlots(SLOTS)
  /** One at a time waits for a turn, as of the orders: where turns are rare, rulebooks get every second one at most. */
  const line = createSlots(1)

  async function takeTurn(deadline: number): Promise<boolean> {
    if (!(await line.take(deadline - performance.now()))) return false
    try {
      return await pace.take(deadline - performance.now())
    } finally {
      line.leave()
    }
  }

  async function start(envelope: Envelope, deadline: number): Promise<PolicyRunEnd> {
    if (slots.waiting() >= MAX_WAITING) return { how: 'too-many-waiting' }
    if (!(await slots.take(timeoutMs))) return { how: 'no-slot-in-time' }
    try {
      if (!(await takeTurn(deadline))) return { how: 'no-slot-in-time' }
      if (stopping.aborted) return { how: 'stopping' }
      const run: Run = await runs.start({ job: 'policy', envelope, timeoutMs: deadline - performance.now() })
      const end = await run.end
      await run.discard()
      return end
    } finally {
      slots.leave()
    }
  }

  return {
    waiting: slots.waiting,
    async run(envelope) {
      const deadline = performance.now() + timeoutMs
      const key = [commitOf(envelope), envelope.epk, envelope.iv, envelope.tag].join()
      const ending = underWay.get(key) ?? start(envelope, deadline).finally(() => underWay.delete(key))
      underWay.set(key, ending)
      return (await within(ending, deadline + LAST_WORD_MS - performance.now())) ?? TIMEOUT
    },
  }
}
