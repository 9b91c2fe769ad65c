import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { createLifetime, type Service } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import { pause } from '../../service/waiting.js'
import type { Engine, Fence, LeaseState, Leases } from './engine.js'

/** One stretch of time in which this process serves a lease. The services that are built for one term end with it. */
export interface Term {
  readonly fence: Fence
  /** Aborts once the term is over: another process has the lease, or this one gives it back. */
  readonly signal: AbortSignal
  /**
   * Whether no other process can have taken the lease yet, by the monotonic clock. Ask before new work. It serves liveness
   * only: the fence of each write is what keeps a process that was paused after the question from writing.
   */
  isTrusted(): boolean
  /** Ends the term immediately, without waiting for the next renewal: for an owner whose write ended as `lost-term`. */
  end(): void
}

/** Called when this process begins to wait for a lease, when it takes it, and when it gives it up. */
export type LeaseObserver = (lease: string, isServing: boolean) => void

/** The leases that a living process serves. @throws StorageError */
export async function servedLeases(leases: Pick<Leases, 'list'>): Promise<LeaseState[]> {
  return (await leases.list()).filter(({ expiresInMs }) => expiresInMs > 0)
}

/** Serves a lease whenever this process has it. */
export type ServeLease = ReturnType<typeof createServeLease>

/** Takes leases whenever they are free, and renews them. */
export function createServeLease(options: {
  readonly engine: Engine
  readonly holder: string
  readonly ttlMs: number
  readonly observe?: LeaseObserver | undefined
  /** Aborts when the process begins to stop. The lease is given back then, while requests under way still end. */
  readonly stopping?: AbortSignal | undefined
  readonly logger: Logger
}) {
  const { engine, holder, ttlMs, observe, logger } = options
  const { leases } = engine
  // Two renewals may fail before a lease is no longer trusted.
  const [takeEveryMs, renewEveryMs, trustedForMs] = [ttlMs * 0.1, ttlMs * 0.3, ttlMs * 0.8]

  function warn(message: string, lease: string): (error: unknown) => undefined {
    return (error) => void logger.warn(message, { recordId: lease, ...describeError(error) })
  }

  async function renew(fence: Fence, over: AbortController, onRenewed: (sentAt: number) => void) {
    let nextAt = performance.now() + renewEveryMs
    while (await pause(Math.max(0, nextAt - performance.now()), over.signal)) {
      const sentAt = performance.now()
      nextAt = sentAt + renewEveryMs
      // The store may be back after a failure before another process takes the lease: then the same term goes on.
      const isRenewed = await leases.renew(fence, ttlMs).catch(warn('lease not renewed', fence.lease))
      if (isRenewed) onRenewed(sentAt)
      else if (isRenewed === false) over.abort()
    }
  }

  /** @param takenAt from before the store's clock began to count */
  async function serveTerm(fence: Fence, takenAt: number, stopping: AbortSignal, build: BuildTerm) {
    const over = new AbortController()
    const end = () => over.abort()
    stopping.addEventListener('abort', end)
    if (stopping.aborted) end()
    let trustedUntil = takenAt + trustedForMs
    const term: Term = {
      fence,
      signal: over.signal,
      isTrusted: () => !over.signal.aborted && performance.now() < trustedUntil,
      end,
    }
    logger.info('lease taken', { recordId: fence.lease })
    observe?.(fence.lease, true)
    const renewing = renew(fence, over, (sentAt) => {
      trustedUntil = sentAt + trustedForMs
    })
    try {
      const lifetime = createLifetime(build(fencedEngine(engine, term), term), logger)
      await lifetime.start()
      if (!term.signal.aborted) await once(term.signal, 'abort')
      await lifetime.stop()
    } catch (error) {
      logger.error('term failed', { recordId: fence.lease, ...describeError(error) })
    }
    end()
    observe?.(fence.lease, false)
    stopping.removeEventListener('abort', end)
    await renewing
    // Has no effect on a later term. A lease that cannot be released expires.
    await leases.release(fence).catch(warn('lease not released', fence.lease))
    logger.info('lease given up', { recordId: fence.lease })
  }

  /**
   * Each term is served by services of its own, which start in their order and are thrown away with the term. They end soon after
   * the term's signal, and only then is the lease released; also when one of them does not start.
   *
   * @param onAttemptOver called when an attempt to take the lease has failed, or its term is over
   */
  return (lease: string, build: BuildTerm, { onAttemptOver }: { onAttemptOver?(): void } = {}): Service => {
    const stopped = new AbortController()
    const stopping = AbortSignal.any([stopped.signal, ...(options.stopping ? [options.stopping] : [])])
    let holding: Promise<void> | undefined

    async function hold(): Promise<void> {
      while (!stopping.aborted) {
        const sentAt = performance.now()
        const fence = await leases.take(lease, holder, ttlMs).catch(warn('lease not taken', lease))
        if (fence !== undefined) await serveTerm(fence, sentAt, stopping, build)
        onAttemptOver?.()
        await pause(takeEveryMs, stopping)
      }
    }

    return {
      name: `lease ${lease}`,
      async start() {
        observe?.(lease, false)
        holding = hold()
      },
      async stop() {
        stopped.abort()
        await holding
      },
    }
  }
}

/** @param engine every write has the term's fence; one that is refused for it ends the term */
type BuildTerm = (engine: Engine, term: Term) => readonly Service[]

/** The same engine, whose writes have the term's fence. One that is refused for it ends the term. */
function fencedEngine(engine: Engine, term: Pick<Term, 'fence' | 'end'>): Engine {
  return {
    ...engine,
    async transact(changes) {
      const result = await engine.transact(changes, term.fence)
      if (result === 'lost-term') term.end()
      return result
    },
  }
}
