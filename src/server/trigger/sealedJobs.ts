import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { envelopeHash } from '../../protocol/sealedRulebook.js'
import { createFairSemaphore } from '../../service/fairSemaphore.js'
import { createSemaphore } from '../../service/semaphore.js'
import { withTimeout } from '../../service/waiting.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run, RunEnd, Runs } from './runner.js'

/**
 * The sender of a sealed job. A rulebook's is an institution, whose admin signed the envelope, or an unknown client (`clientOf`). A
 * resolution's is the platform's owner.
 */
export type JobSender = { readonly institution: Hex } | { readonly client: string } | { readonly owner: Hex }

/**
 * Runs of rulebooks and resolutions, with permits of their own, so that they cannot starve orders. What is signed has a queue of
 * its own, in which institutions and the owner take turns; the rest share the other, in which clients take turns.
 */
export type SealedJobs = ReturnType<typeof createSealedJobs>

/** Queues of sealed jobs. */
type Queue = 'signed' | 'unsigned'

/** How a run ended, or why none began. */
export type SealedJobEnd = RunEnd | { readonly how: 'too-many-waiting' | 'no-permit-in-time' | 'stopping' }

/** One run per sender at a time: an institution's second rulebook needs the version of the first. */
const PER_SENDER = { permitsPerParty: 1, maxWaiting: 16, maxWaitingPerParty: 2 }
/**
 * Two for institutions, so that one run that hangs does not stop all others. One for the rest, which any client can post
 * without a signature.
 */
const PERMITS: Readonly<Record<Queue, number>> = { signed: 2, unsigned: 1 }
/** An enclave that is stopped at its time sends its result a moment later; the run may count as running for longer. */
const LAST_RESULT_MS = 5_000
const TIMEOUT: SealedJobEnd = { how: 'timeout', result: null }

interface SealedJobsOptions {
  readonly runs: Pick<Runs, 'start'>
  /** Decides when a run may start. */
  readonly rateLimit: Pick<TriggerRateLimit, 'acquire'>
  /** Milliseconds from the envelope's arrival to the end of its run. */
  readonly timeoutMs: number
  /** Aborts when the server begins to stop: jobs that wait for a permit then never start. */
  readonly stopping: AbortSignal
}

export function createSealedJobs({ runs, rateLimit, timeoutMs, stopping }: SealedJobsOptions) {
  const underWay = new Map<string, Promise<SealedJobEnd>>()
  const queues = {
    signed: createFairSemaphore<string>({ ...PER_SENDER, permits: PERMITS.signed }),
    unsigned: createFairSemaphore<string>({ ...PER_SENDER, permits: PERMITS.unsigned }),
  }
  /** One job at a time waits for a turn: where turns are rare, sealed jobs get every second one at most. */
  const line = createSemaphore(1)

  async function takeTurn(deadline: number): Promise<boolean> {
    if (!(await line.acquire(deadline - performance.now()))) return false
    try {
      return await rateLimit.acquire(deadline - performance.now())
    } finally {
      line.release()
    }
  }

  async function start(
    envelope: Envelope,
    { job, queue, party }: QueuePosition,
    deadline: number,
  ): Promise<SealedJobEnd> {
    const acquired = await queues[queue].acquire(party, timeoutMs)
    if (acquired === 'crowded-out') return { how: 'too-many-waiting' }
    if (acquired === 'late') return { how: 'no-permit-in-time' }
    try {
      if (!(await takeTurn(deadline))) return { how: 'no-permit-in-time' }
      if (stopping.aborted) return { how: 'stopping' }
      const run: Run = await runs.start({ job, envelope }, deadline - performance.now())
      const end = await run.end
      await run.discard()
      return end
    } finally {
      queues[queue].release(party)
    }
  }

  return {
    /** The number of jobs that wait for a permit, by queue. */
    waiting: () => ({ signed: queues.signed.waiting(), unsigned: queues.unsigned.waiting() }),
    /**
     * Resolves when the run has ended, will not begin, or is out of time. One time-out covers the wait for a permit and a turn,
     * and the run. The same envelope of the same sender joins its run, which goes on whether or not a caller waits for it.
     * @throws StorageError; no run has started then
     */
    async run(envelope: Envelope, sender: JobSender): Promise<SealedJobEnd> {
      const deadline = performance.now() + timeoutMs
      const position = positionOf(sender)
      const key = [position.queue, position.party, envelopeHash(envelope)].join()
      const ending =
        underWay.get(key) ?? start(envelope, position, deadline).finally(() => underWay.delete(key))
      underWay.set(key, ending)
      return (await withTimeout(ending, deadline + LAST_RESULT_MS - performance.now())) ?? TIMEOUT
    },
  }
}

/** The queue of a sender's jobs, and the sender's line in it. */
interface QueuePosition {
  readonly job: 'policy' | 'resolve'
  readonly queue: Queue
  readonly party: string
}

function positionOf(sender: JobSender): QueuePosition {
  if ('owner' in sender) return { job: 'resolve', queue: 'signed', party: sender.owner }
  if ('institution' in sender) return { job: 'policy', queue: 'signed', party: sender.institution }
  return { job: 'policy', queue: 'unsigned', party: sender.client }
}
