import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { envelopeHash } from '../../protocol/sealedRulebook.js'
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
 * its own, in which institutions and the owner alternate; the rest share the other, in which clients alternate.
 */
export type SealedJobs = ReturnType<typeof createSealedJobs>

/** How a run ended, or why none began. */
export type SealedJobEnd = RunEnd | { readonly how: 'too-many-waiting' | 'no-permit-in-time' | 'stopping' }

/** Jobs of one sender: one runs, and two wait. An institution's second rulebook needs the version of the first. */
const MAX_PER_SENDER = 3
const MAX_SENDERS = 16
/**
 * Runs at once: two of what is signed, so that one run that hangs does not stop all others. One of the rest, which any client can post
 * without a signature.
 */
const PERMITS = { signed: 2, unsigned: 1 }
/** An enclave that is stopped at its deadline posts its result shortly afterwards. */
const LAST_RESULT_MS = 5_000
const TIMEOUT: SealedJobEnd = { how: 'timeout', result: null }
const NO_PERMIT: SealedJobEnd = { how: 'no-permit-in-time' }

export function createSealedJobs(options: {
  readonly runs: Pick<Runs, 'start'>
  readonly rateLimit: Pick<TriggerRateLimit, 'acquire'>
  /** Milliseconds from the envelope's arrival to the end of its run. */
  readonly timeoutMs: number
  /** Aborts when the server begins to stop: jobs that wait for a permit then never start. */
  readonly stopping: AbortSignal
}) {
  const { runs, rateLimit, timeoutMs, stopping } = options
  const underWay = new Map<string, Promise<SealedJobEnd>>()
  const queues = { signed: createQueue(PERMITS.signed), unsigned: createQueue(PERMITS.unsigned) }
  /** One job at a time waits for a turn: where turns are rare, sealed jobs get every second one at most. */
  const line = createSemaphore(1)

  async function run(job: 'policy' | 'resolve', envelope: Envelope, deadline: number): Promise<SealedJobEnd> {
    const hasTurn = await withPermit(line, deadline, () => rateLimit.acquire(deadline - performance.now()))
    if (hasTurn !== true) return NO_PERMIT
    if (stopping.aborted) return { how: 'stopping' }
    const run: Run = await runs.start({ job, envelope }, deadline - performance.now())
    const end = await run.end
    await run.discard()
    return end
  }

  return {
    waiting: () => ({ signed: queues.signed.waiting(), unsigned: queues.unsigned.waiting() }),
    /**
     * Resolves when the run has ended, will not begin, or is out of time. One time-out covers the wait for a permit and a turn,
     * and the run. The same envelope of the same sender joins its run, which goes on whether or not a caller waits for it.
     * @throws StorageError; no run has started then
     */
    async run(envelope: Envelope, sender: JobSender): Promise<SealedJobEnd> {
      const deadline = performance.now() + timeoutMs
      const job = 'owner' in sender ? 'resolve' : 'policy'
      const queue = 'client' in sender ? 'unsigned' : 'signed'
      const [party = ''] = Object.values<string>(sender)
      const key = [queue, party, envelopeHash(envelope)].join()
      const begin = () => queues[queue].run(party, deadline, () => run(job, envelope, deadline))
      const ending = underWay.get(key) ?? begin().finally(() => underWay.delete(key))
      underWay.set(key, ending)
      return (await withTimeout(ending, deadline + LAST_RESULT_MS - performance.now())) ?? TIMEOUT
    },
  }
}

/** The jobs of a sender run one after the other, and only its next one waits for a permit: so the senders alternate. */
function createQueue(permits: number) {
  const free = createSemaphore(permits)
  const senders = new Map<string, { jobs: number; readonly turn: Semaphore }>()
  let running = 0

  async function count(job: () => Promise<SealedJobEnd>): Promise<SealedJobEnd> {
    running++
    return job().finally(() => running--)
  }

  return {
    waiting: () => [...senders.values()].reduce((sum, { jobs }) => sum + jobs, 0) - running,
    async run(party: string, deadline: number, job: () => Promise<SealedJobEnd>): Promise<SealedJobEnd> {
      const known = senders.get(party)
      const sender = known ?? { jobs: 0, turn: createSemaphore(1) }
      if (sender.jobs >= MAX_PER_SENDER || (known === undefined && senders.size >= MAX_SENDERS))
        return { how: 'too-many-waiting' }
      senders.set(party, sender)
      sender.jobs++
      try {
        const inTurn = () => withPermit(free, deadline, () => count(job))
        return (await withPermit(sender.turn, deadline, inTurn)) ?? NO_PERMIT
      } finally {
        sender.jobs--
        if (sender.jobs === 0) senders.delete(party)
      }
    },
  }
}

type Semaphore = ReturnType<typeof createSemaphore>

/** @returns undefined where no permit comes in time */
async function withPermit<T>(
  semaphore: Semaphore,
  deadline: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (!(await semaphore.acquire(deadline - performance.now()))) return undefined
  try {
    return await work()
  } finally {
    semaphore.release()
  }
}
