import type { Logger } from '../../service/logger.js'
import { type Patient, untilAborted, withPatience } from '../async/waiting.js'
import type { BlockId, EscrowEvents } from '../escrow/escrowLogs.js'
import type { Service } from '../lifetime.js'
import { createPoller } from '../poller.js'

/** The chain's latest block, shared by all who want to know whether there is anything new. */
export interface ChainHead {
  /** Takes over what somebody else has just read. */
  note(head: BlockId): void
  /**
   * A block that was the head `maxAgeMs` ago at most, or is it now: asked for only when nobody has read it since, once
   * for all who wait. Throws as `ask` does; after a failure soon, and without asking for a moment.
   */
  current(): Promise<BlockId>
  /** As it is now. @throws ChainUnavailableError, ChainAnswerError */
  ask(): Promise<BlockId>
  /** Something of ours is in a block: what was read before is not current any more. Asks nobody. */
  expire(): void
  /** Asks again and again, so that whoever wants to know need not wait. */
  readonly service: Service
}

interface Known {
  readonly head: BlockId
  readonly readAt: number
  /** The count of expiries when it was asked for. */
  readonly expired: number
}

interface Asking extends Patient<BlockId> {
  readonly since: number
}

/** However soon a head is too old. */
const LEAST_INTERVAL_MS = 250
/** After a failure, how long nobody who reads asks again. */
const RETRY_MS = 1_000
/** After a failure, how long the next answer is waited for, from its question: a node that hangs must not hold up everybody. */
const PATIENCE_MS = 250

/**
 * A block that is lower than the known one comes from a node that is behind, and is not believed while the known one may
 * be shown; after that the chain has another history.
 */
export function createChainHead(options: {
  readonly events: Pick<EscrowEvents, 'head'>
  readonly maxAgeMs: number
  readonly logger: Logger
}): ChainHead {
  const { events, maxAgeMs, logger } = options
  const intervalMs = Math.max(LEAST_INTERVAL_MS, maxAgeMs / 2)
  let asking: Asking | undefined
  let last: Known | undefined
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined
  /** How often what was known has expired. */
  let expired = 0

  function isYounger(ageMs: number): boolean {
    return last !== undefined && last.expired === expired && performance.now() - last.readAt < ageMs
  }

  function keep(known: Known): void {
    failure = undefined
    if (last !== undefined && known.head.number < last.head.number && isYounger(maxAgeMs)) return
    last = known
  }

  async function ask(): Promise<BlockId> {
    // The answer may be as old as its question.
    const asked = { readAt: performance.now(), expired }
    try {
      const head = await events.head()
      keep({ head, ...asked })
      return head
    } catch (error) {
      failure = { error, retryAt: performance.now() + RETRY_MS }
      throw error
    }
  }

  /** Joins who has asked lately. */
  function askOnce(): Asking {
    const since = performance.now()
    if (asking !== undefined && since - asking.since < maxAgeMs) return asking
    const mine = { ...withPatience(ask(), PATIENCE_MS), since }
    asking = mine
    const settle = () => {
      if (asking === mine) asking = undefined
    }
    mine.whole.then(settle, settle)
    return mine
  }

  return {
    note: (head) => keep({ head, readAt: performance.now(), expired }),
    ask,
    async current() {
      if (last !== undefined && isYounger(maxAgeMs)) return last.head
      const failed = failure
      if (failed === undefined) return askOnce().whole
      const head = performance.now() < failed.retryAt ? undefined : await askOnce().patient
      if (head === undefined) throw failed.error
      return head
    },
    expire() {
      expired++
      failure = undefined
      // What is under way was asked before.
      asking = undefined
    },
    service: createPoller({
      name: 'chain-head',
      intervalMs,
      logger,
      async tick(signal) {
        if (isYounger(intervalMs)) return
        // Whoever reads is told of an outage, and the log of each node that is set aside.
        await untilAborted(
          askOnce().whole.catch(() => undefined),
          signal,
        )
      },
    }),
  }
}
