import { commitOf, type Envelope } from '../../protocol/envelope.js'
import { Problem } from '../http/problems.js'
import type { RunEnd } from './runner.js'
import type { Run, Runs } from './runs.js'

/** Runs of rulebooks, in slots of their own, so that they can't starve orders. */
export interface PolicyRuns {
  /**
   * Resolves when the run has ended. The same envelope offered again meanwhile joins its run; whether anybody still
   * waits does not matter to it.
   * @throws Problem `enclave-busy` when too many wait already, `shutting-down`, `storage-unavailable`
   */
  run(envelope: Envelope): Promise<RunEnd>
}

/** Two, so that one run that hangs does not stop every institution. */
const SLOTS = 2
const MAX_WAITING = 16

/** `stopping` aborts when the server begins to stop: what still waits for a slot then never starts. */
export function createPolicyRuns(runs: Pick<Runs, 'start'>, stopping: AbortSignal): PolicyRuns {
  const underWay = new Map<string, Promise<RunEnd>>()
  const waiting: (() => void)[] = []
  let taken = 0

  async function takeSlot(): Promise<void> {
    if (taken < SLOTS) {
      taken++
      return
    }
    if (waiting.length >= MAX_WAITING) throw new Problem('enclave-busy')
    // Handed on by whoever leaves, so that nobody gets in between.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function leaveSlot(): void {
    const next = waiting.shift()
    if (next === undefined) taken--
    else next()
  }

  async function start(envelope: Envelope): Promise<RunEnd> {
    await takeSlot()
    try {
      if (stopping.aborted) throw new Problem('shutting-down')
      const run: Run = await runs.start({ job: 'policy', envelope })
      const end = await run.end
      await run.discard()
      return end
    } finally {
      leaveSlot()
    }
  }

  return {
    run(envelope) {
      const key = [commitOf(envelope), envelope.epk, envelope.iv, envelope.tag].join()
      const joined = underWay.get(key)
      if (joined !== undefined) return joined
      const ending = start(envelope).finally(() => underWay.delete(key))
      underWay.set(key, ending)
      return ending
    },
  }
}
