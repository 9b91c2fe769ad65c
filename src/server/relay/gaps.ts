import { describeError, type Logger } from '../../service/logger.js'
import type { Look } from './account.js'
import type { Flights } from './flights.js'
import type { Break } from './history.js'
import type { Nonces } from './nonces.js'
import type { Outbox } from './outbox.js'

export interface GapsOptions {
  readonly flights: Flights
  readonly nonces: Nonces
  readonly outbox: Outbox
  readonly resubmitAfterMs: number
  readonly logger: Logger
}

/** Sees to it that no nonce stays open below one that is used. */
export interface Gaps {
  /** @param broken how the chain's history broke since the last time */
  close(look: Look, broken: Break | null): Promise<void>
}

/** Somebody may be about to take it, and one node may know of a count before another does. */
const PATIENCE_MS = 3_000
/** Where more are open the chain has lost what was below, and fillers would cost more than starting again. */
const MAX_FILLED = 16

/**
 * A gap is left by a crash between two saves, by a record that was lost, or by a chain that lost blocks. It is filled
 * with a transfer of nothing; where it is too wide for that, what is above it starts again below.
 */
export function createGaps(options: GapsOptions): Gaps {
  const { flights, nonces, outbox, resubmitAfterMs, logger } = options
  let open: { nonce: number; since: number } | undefined

  /** What a node's pool knows of is waited for, as long as for any transaction. */
  function isOverdue(nonce: number, look: Look): boolean {
    if (open?.nonce !== nonce) open = { nonce, since: performance.now() }
    const patience = nonce < look.pending ? resubmitAfterMs : Math.min(PATIENCE_MS, resubmitAfterMs)
    return performance.now() - open.since >= patience
  }

  async function fill(nonce: number): Promise<void> {
    nonces.hold(nonce)
    try {
      const flight = await outbox.fill(nonce)
      flights.add(flight)
      void outbox.broadcast(flight)
    } catch (error) {
      nonces.release(nonce)
      logger.warn('nonce not filled', { nonce, ...describeError(error) })
    }
  }

  function startAgainBelow(hole: number): void {
    nonces.distrust('latest')
    for (const flight of flights.all().filter(({ nonce }) => nonce > hole)) {
      const { nonce } = flight
      logger.warn('nonce lost', { nonce, txHash: flight.newest.hash, reason: 'unreachable' })
      nonces.release(nonce)
      flights.finish(flight, { kind: 'displaced' })
    }
  }

  return {
    async close(look, broken) {
      const holes = nonces.holes(look.count, MAX_FILLED + 1)
      const [lowest] = holes
      if (lowest === undefined) open = undefined
      else if (broken === 'reset') startAgainBelow(lowest)
      else if (!isOverdue(lowest, look)) return
      else if (holes.length > MAX_FILLED) startAgainBelow(lowest)
      else for (const nonce of holes) await fill(nonce)
    },
  }
}
