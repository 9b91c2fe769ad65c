import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { envelopeHash } from '../../protocol/sealedRulebook.js'
import { createFairSemaphore } from '../async/fairSemaphore.js'
import { createSemaphore } from '../async/semaphore.js'
import { withTimeout } from '../async/waiting.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run, RunEnd, Runs } from './runner.js'

/**
 * The sender of a rulebook: an institution, whose admin signed the envelope, or an unknown client (`clientOf`).
 */
export type RulebookSender = { readonly institution: Hex } | { readonly client: string }

/**
 * Runs of rulebooks, with permits of their own, so that they cannot starve orders. Signed rulebooks have a queue of their
 * own, in which institutions take turns; the rest share the other, in which clients take turns.
 */
export interface PolicyRuns {
  /**
   * Resolves when the run has ended, will not begin, or has not ended by its time. Waiting for a permit and a turn and
   * running share one time-out. The same envelope of the same sender, offered again before its run has ended, joins that
   * run, which goes on whether or not a caller still waits for it.
   * @throws StorageError; nothing is started then
   */
  run(envelope: Envelope, sender: RulebookSender): Promise<PolicyRunEnd>
  /** How many wait for a permit. */
  waiting(): Readonly<Record<Queue, number>>
}

/** Queues of rulebooks. */
export type Queue = 'signed' | 'unsigned'

/** How a run ended, or why none began. */
export type PolicyRunEnd = RunEnd | { readonly how: 'too-many-waiting' | 'no-slot-in-time' | 'stopping' }

/** One run at a time of a sender: of two rulebooks of an institution, the second one needs the version of the first. */
const PER_SENDER = { permitsPerParty: 1, maxWaiting: 16, maxWaitingPerParty: 2 }
/**
 * Two for institutions, so that one run that hangs does not stop all others. One for the rest: anybody can post those, at
 * the cost of a process each.
 */
const PERMITS: Readonly<Record<Queue, number>> = { signed: 2, unsigned: 1 }
/** An enclave that is stopped at its time has its last word a moment later; the run may count as going on for longer. */
const LAST_WORD_MS = 5_000
const TIMEOUT: PolicyRunEnd = { how: 'timeout', exitCode: null, result: null }

interface PolicyRunsOptions {
  readonly runs: Pick<Runs, 'start'>
  /** When a run may be started. */
  readonly rateLimit: Pick<TriggerRateLimit, 'take'>
  /** Milliseconds from the envelope's arrival to the end of its run. */
  readonly timeoutMs: number
  /** Aborts when the server begins to stop: what still waits for a permit then never starts. */
  readonly stopping: AbortSignal
}

export function createPolicyRuns({ runs, rateLimit, timeoutMs, stopping }: PolicyRunsOptions): PolicyRuns {
  const underWay = new Map<string, Promise<PolicyRunEnd>>()
  const queues = {
    signed: createFairSemaphore<string>({ ...PER_SENDER, permits: PERMITS.signed }),
    unsigned: createFairSemaphore<string>({ ...PER_SENDER, permits: PERMITS.unsigned }),
  }
  /** One at a time waits for a turn, as of the orders: where turns are rare, rulebooks get every second one at most. */
  const line = createSemaphore(1)

  async function takeTurn(deadline: number): Promise<boolean> {
    if (!(await line.acquire(deadline - performance.now()))) return false
    try {
      return await rateLimit.take(deadline - performance.now())
    } finally {
      line.release()
    }
  }

  async function start(envelope: Envelope, { queue, party }: Place, deadline: number): Promise<PolicyRunEnd> {
    const acquired = await queues[queue].acquire(party, timeoutMs)
    if (acquired === 'crowded-out') return { how: 'too-many-waiting' }
    if (acquired === 'late') return { how: 'no-slot-in-time' }
    try {
      if (!(await takeTurn(deadline))) return { how: 'no-slot-in-time' }
      if (stopping.aborted) return { how: 'stopping' }
      const run: Run = await runs.start({ job: 'policy', envelope, timeoutMs: deadline - performance.now() })
      const end = await run.end
      await run.discard()
      return end
    } finally {
      queues[queue].release(party)
    }
  }

  return {
    waiting: () => ({ signed: queues.signed.waiting(), unsigned: queues.unsigned.waiting() }),
    async run(envelope, sender) {
      const deadline = performance.now() + timeoutMs
      const place = placeOf(sender)
      const key = [place.queue, place.party, envelopeHash(envelope)].join()
      const ending = underWay.get(key) ?? start(envelope, place, deadline).finally(() => underWay.delete(key))
      underWay.set(key, ending)
      return (await withTimeout(ending, deadline + LAST_WORD_MS - performance.now())) ?? TIMEOUT
    },
  }
}

/** Where a sender's rulebooks wait. */
interface Place {
  readonly queue: Queue
  readonly party: string
}

function placeOf(sender: RulebookSender): Place {
  if ('institution' in sender) return { queue: 'signed', party: sender.institution }
  return { queue: 'unsigned', party: sender.client }
}
