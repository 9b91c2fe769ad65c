import { describeError, type Logger } from '../../service/logger.js'
import type { AccountView, Look } from './account.js'
import type { Flight } from './flight.js'
import type { FlightEnds } from './flightEnds.js'
import type { Flights } from './flights.js'
import type { ForeignUse } from './foreignUse.js'
import type { Gaps } from './gaps.js'
import type { Break } from './history.js'
import type { LostTransactions } from './lostTransactions.js'
import type { Nonces } from './nonces.js'
import type { Resending } from './resending.js'
import type { SendAhead } from './sendAhead.js'
import type { SettledTransactions } from './settled.js'

export interface WatcherOptions {
  readonly account: AccountView
  readonly flights: Flights
  readonly ends: FlightEnds
  readonly resending: Resending
  readonly sendAhead: Pick<SendAhead, 'saw'>
  readonly gaps: Gaps
  readonly settled: SettledTransactions
  readonly lost: Pick<LostTransactions, 'check'>
  readonly nonces: Pick<Nonces, 'saw'>
  readonly foreignUse: Pick<ForeignUse, 'check'>
  readonly logger: Logger
}

/** While nothing is under way, blocks are only looked at for what they may have lost. */
const IDLE_LOOK_MS = 5_000
/** While they can't have lost anything, either, only for what the account does elsewhere. */
const RESTING_LOOK_MS = 30_000

/** Reads from the chain what became of everything under way, and does what follows from it. */
export interface Watcher {
  /** One look: a request for head and nonce, and one more for the receipts of what seems mined. */
  look(): Promise<void>
}

export function createWatcher(options: WatcherOptions): Watcher {
  const { account, flights, ends, resending, sendAhead, gaps, settled, lost, nonces, foreignUse, logger } =
    options
  let lookedAt = 0

  function pauseMs(): number {
    if (flights.count() > 0) return 0
    return settled.isEmpty() ? RESTING_LOOK_MS : IDLE_LOOK_MS
  }

  /** Of a reorganization blocks may come back; of a chain that was reset they don't. */
  function noticeBreak(look: Look): Break | null {
    const broken = account.takeBreak()
    if (broken === null) return null
    logger.warn('history changed', { reason: broken, blockNumber: look.head })
    if (broken === 'reset') settled.clear()
    else settled.suspectAll()
    return broken
  }

  /** In the order of their nonces. One that fails waits for the next look, and holds up no other. */
  async function each(isOne: (nonce: number) => boolean, act: (flight: Flight) => Promise<void>) {
    const some = flights.all().filter(({ nonce }) => isOne(nonce))
    await Promise.all(
      some.map((flight) =>
        act(flight).catch((error: unknown) => {
          logger.warn('transaction left for the next look', { nonce: flight.nonce, ...describeError(error) })
        }),
      ),
    )
  }

  return {
    async look() {
      await lost.check()
      if (performance.now() - lookedAt < pauseMs()) return
      lookedAt = performance.now()
      const look = await account.look()
      if (look.history === 'behind') return
      const broken = noticeBreak(look)
      await settled.check()
      settled.forget(look.head)
      if (broken === null) nonces.saw(look.count)
      await foreignUse.check(look.head)
      await each(
        (nonce) => nonce < look.count,
        (flight) => ends.check(flight, look.head, broken !== null),
      )
      sendAhead.saw(look.count)
      await each(
        (nonce) => nonce >= look.count,
        (flight) => resending.urge(flight, look.count),
      )
      await gaps.close(look, broken)
    },
  }
}
