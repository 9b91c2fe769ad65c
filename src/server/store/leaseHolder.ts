import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLifetime, type Service } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Engine, Fence, LeaseState, Leases, TransactionResult } from './engine.js'

/** One stretch of time in which this process holds a lease. The services that are built for one term end with it. */
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

export interface LeaseTiming {
  readonly ttlMs: number
  readonly renewEveryMs: number
  /** How long before its expiry a lease is no longer trusted. */
  readonly marginMs: number
  /** How often a process that waits for a lease tries to take it. */
  readonly takeEveryMs: number
}

/** Two renewals may fail before a lease is no longer trusted. */
export function leaseTiming(ttlMs: number): LeaseTiming {
  return { ttlMs, renewEveryMs: ttlMs * 0.3, marginMs: ttlMs * 0.2, takeEveryMs: ttlMs * 0.1 }
}

/** Called when this process begins to wait for a lease, when it takes it, and when it gives it up. */
export type LeaseObserver = (lease: string, isHeld: boolean) => void

interface LeaseHolderOptions {
  readonly leases: Leases
  readonly lease: string
  /** This server, in the lists of leases. */
  readonly holder: string
  /**
   * Does the work of one term. It ends soon after the term's signal, and only then is the lease released. The lease is
   * released as well when it ends or fails earlier.
   */
  readonly serve: (term: Term) => Promise<void>
  /** Called when an attempt has failed, or its term is over. */
  readonly onAttemptOver?: (() => void) | undefined
  readonly observe?: LeaseObserver | undefined
  /** Aborts when the process begins to stop. The lease is given back then, while requests under way still end. */
  readonly stopping?: AbortSignal | undefined
  readonly logger: Logger
  readonly timing: LeaseTiming
}

/** The leases that a living process holds. @throws StorageError */
export async function heldLeases(leases: Pick<Leases, 'list'>): Promise<LeaseState[]> {
  return (await leases.list()).filter(({ expiresInMs }) => expiresInMs > 0)
}

/** Takes a lease whenever it is free, renews it, and serves each term of it. */
export function createLeaseHolder(options: LeaseHolderOptions): Service {
  const { leases, lease, holder, serve, onAttemptOver, observe, logger, timing } = options
  const stopped = new AbortController()
  const stopping =
    options.stopping === undefined ? stopped.signal : AbortSignal.any([stopped.signal, options.stopping])
  let holding: Promise<void> | undefined

  /** @returns false once `signal` is aborted */
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, true, { signal }).catch(() => false)

  async function take(): Promise<Fence | undefined> {
    try {
      return await leases.take(lease, holder, timing.ttlMs)
    } catch (error) {
      logger.warn('lease not taken', { recordId: lease, ...describeError(error) })
      return undefined
    }
  }

  async function hold(): Promise<void> {
    while (!stopping.aborted) {
      // The store's clock counts from later on.
      const sentAt = performance.now()
      const fence = await take()
      if (fence !== undefined) await serveTerm(fence, sentAt)
      onAttemptOver?.()
      await pause(timing.takeEveryMs, stopping)
    }
  }

  async function serveTerm(fence: Fence, takenAt: number): Promise<void> {
    const over = new AbortController()
    const end = () => over.abort()
    stopping.addEventListener('abort', end)
    if (stopping.aborted) end()
    const trustFor = timing.ttlMs - timing.marginMs
    let trustedUntil = takenAt + trustFor
    const term: Term = {
      fence,
      signal: over.signal,
      isTrusted: () => !over.signal.aborted && performance.now() < trustedUntil,
      end,
    }
    logger.info('lease taken', { recordId: lease })
    observe?.(lease, true)
    const renewing = renew(fence, over, (sentAt) => {
      trustedUntil = sentAt + trustFor
    })
    try {
      await serve(term)
    } catch (error) {
      logger.error('term failed', { recordId: lease, ...describeError(error) })
    }
    end()
    observe?.(lease, false)
    stopping.removeEventListener('abort', end)
    await renewing
    // Has no effect on a later term. A lease that cannot be released expires.
    await leases.release(fence).catch((error: unknown) => {
      logger.warn('lease not released', { recordId: lease, ...describeError(error) })
    })
    logger.info('lease given up', { recordId: lease })
  }

  async function renew(fence: Fence, over: AbortController, onRenewed: (sentAt: number) => void) {
    let nextAt = performance.now() + timing.renewEveryMs
    while (await pause(Math.max(0, nextAt - performance.now()), over.signal)) {
      const sentAt = performance.now()
      nextAt = sentAt + timing.renewEveryMs
      try {
        if (await leases.renew(fence, timing.ttlMs)) onRenewed(sentAt)
        else over.abort()
      } catch (error) {
        // The store may be back before another process takes the lease: then the same term goes on.
        logger.warn('lease not renewed', { recordId: lease, ...describeError(error) })
      }
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

/**
 * Holds a lease whenever it is free. Each term is served by services of its own, which start in their order and are thrown away
 * with the term.
 */
export type ServeLease = (
  lease: string,
  /** @param engine every write carries the term's fence; one that is refused for it ends the term */
  build: (engine: Engine, term: Term) => readonly Service[],
  change?: Pick<LeaseHolderOptions, 'onAttemptOver'>,
) => Service

export function createServeLease(
  options: { readonly engine: Engine } & Pick<
    LeaseHolderOptions,
    'holder' | 'timing' | 'observe' | 'stopping' | 'logger'
  >,
): ServeLease {
  const { engine, ...common } = options
  return (lease, build, change) =>
    createLeaseHolder({
      ...common,
      ...change,
      leases: engine.leases,
      lease,
      async serve(term) {
        const lifetime = createLifetime(build(fencedEngine(engine, term), term), common.logger)
        await lifetime.start()
        if (!term.signal.aborted) await once(term.signal, 'abort')
        await lifetime.stop()
      },
    })
}

/** The same engine, whose writes carry the term's fence. One that is refused for it ends the term. */
export function fencedEngine(engine: Engine, term: Pick<Term, 'fence' | 'end'>): Engine {
  async function noticing<R extends TransactionResult>(write: Promise<R>): Promise<R> {
    const result = await write
    if (result === 'lost-term') term.end()
    return result
  }
  return {
    ...engine,
    put: (table, row) => noticing(engine.put(table, row, term.fence)),
    delete: (table, id, version) => noticing(engine.delete(table, id, version, term.fence)),
    transact: (changes) => noticing(engine.transact(changes, term.fence)),
  }
}
