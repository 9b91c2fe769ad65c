import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../logger.js'
import type { AccountView, Break, Look } from './account.js'
import type { Reception } from './broadcast.js'
import type { Flights } from './flights.js'
import type { Gaps } from './gaps.js'
import { type InFlight, isFiller, newestOf } from './inFlight.js'
import type { FindMined, MinedTransaction } from './mined.js'
import type { Nonces } from './nonces.js'
import type { Outbox } from './outbox.js'
import type { SettledTransactions } from './settled.js'

export interface WatcherOptions {
  readonly findMined: FindMined
  readonly account: AccountView
  /** The relayer's address. */
  readonly address: Hex
  readonly flights: Flights
  readonly settled: SettledTransactions
  readonly nonces: Nonces
  readonly outbox: Outbox
  readonly confirmations: number
  readonly resubmitAfterMs: number
  readonly gaps: Gaps
  /** A transaction of the account was mined. */
  readonly onGasUsed: (gasUsed: bigint) => void
  readonly logger: Logger
}

/**
 * One node may know of a new count before another knows of the receipt that goes with it. After so long it is believed
 * on a chain, too, that makes no further blocks to judge by.
 */
const NODE_LAG_MS = 5_000
/** What no node holds is offered again after this long: it may have come before the nonce below it. */
const OFFER_AGAIN_MS = 1_000
/** While nothing is under way, blocks are only looked at for what they may have lost. */
const IDLE_LOOK_MS = 5_000

/** Reads from the chain what became of everything under way, and does what follows from it. */
export interface Watcher {
  /** One look: a request for head and nonce, and one more for the receipts of what seems mined. */
  look(): Promise<void>
}

export function createWatcher(options: WatcherOptions): Watcher {
  const { findMined, account, address, flights, settled, nonces, confirmations, logger } = options
  let lookedAt = 0

  async function settle(flight: InFlight, head: number, broken: boolean): Promise<void> {
    const isDeep = (block: number) => head - block + 1 >= confirmations
    if (!broken && flight.blockNumber !== undefined && !isDeep(flight.blockNumber)) return
    const found = await Promise.all(flight.transactions.map(({ hash }) => findMined(hash)))
    const mined = found.findLast(
      (transaction, index) => transaction !== null && endsFlight(flight, index, transaction),
    )
    flight.blockNumber = mined?.blockNumber
    if (!mined) return missed(flight, head)
    flight.missedSince = undefined
    flight.land()
    if (isDeep(mined.blockNumber)) conclude(flight, mined)
  }

  /** Of what went out earlier under another nonce, only an effect: it may have failed then, and be tried again now. */
  function endsFlight(flight: InFlight, index: number, transaction: MinedTransaction): boolean {
    const hasItsNonce = flight.transactions[index]?.nonce === flight.nonce
    return hasItsNonce || (transaction.succeeded && !isFiller(transaction, address))
  }

  function conclude(flight: InFlight, transaction: MinedTransaction): void {
    nonces.done(flight.nonce)
    options.onGasUsed(transaction.gasUsed)
    if (isFiller(transaction, address)) {
      flights.finish(flight, { kind: 'displaced' })
      return
    }
    settled.add({ transaction, dropped: flight.sender.dropped })
    flights.finish(flight, { kind: 'mined', transaction })
  }

  /** By blocks or by the clock, whichever is first: a process may not live as long as its patience. */
  async function missed(flight: InFlight, head: number): Promise<void> {
    flight.missedSince ??= performance.now()
    const own = flight.transactions.filter(({ nonce }) => nonce === flight.nonce)
    const hashes = own.map(({ hash }) => hash)
    const isOverdue = performance.now() - flight.missedSince >= NODE_LAG_MS
    if (!isOverdue && !(await account.isTaken(flight.nonce, hashes, head))) return
    logger.warn('nonce lost', { nonce: flight.nonce, txHash: newestOf(flight).hash, reason: 'taken' })
    nonces.done(flight.nonce)
    nonces.distrust('pending')
    flights.finish(flight, { kind: 'displaced' })
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

  /** Sent again at once when it was in a block before. */
  function putBack(flight: InFlight): void {
    if (flight.blockNumber !== undefined) flight.sentAt = undefined
    flight.blockNumber = undefined
    flight.missedSince = undefined
  }

  /** In the order of their nonces. One that fails waits for the next look, and holds up no other. */
  async function each(isOne: (nonce: number) => boolean, act: (flight: InFlight) => Promise<void>) {
    const some = flights.all().filter(({ nonce }) => isOne(nonce))
    await Promise.all(
      some.map((flight) =>
        act(flight).catch((error: unknown) => {
          logger.warn('transaction left for the next look', { nonce: flight.nonce, ...describeError(error) })
        }),
      ),
    )
  }

  /** Its effect is there by another transaction. Should its nonce be missed, it is filled. */
  function letGo(flight: InFlight): void {
    nonces.release(flight.nonce)
    flights.finish(flight, { kind: 'displaced' })
  }

  async function move(flight: InFlight, count: number): Promise<void> {
    const { outbox, resubmitAfterMs } = options
    const { sentAt, waitsSince, reception, nonce } = flight
    const now = performance.now()
    if (sentAt === undefined) {
      if (await flight.sender.isNeeded()) outbox.broadcast(flight)
      else letGo(flight)
    } else if (now - waitsSince >= resubmitAfterMs && !isUnheard(reception)) {
      await (isRefused(reception) && nonce === count ? outbox.giveUp(flight) : outbox.resubmit(flight))
    } else if (reception?.held === 0 && now - sentAt >= OFFER_AGAIN_MS) {
      outbox.broadcast(flight)
    }
  }

  return {
    async look() {
      const isIdle = flights.count() === 0
      if (isIdle && (settled.isEmpty() || performance.now() - lookedAt < IDLE_LOOK_MS)) return
      lookedAt = performance.now()
      const look = await account.look()
      if (look.history === 'behind') return
      const broken = noticeBreak(look)
      await settled.check()
      settled.forget(look.head)
      await each(
        (nonce) => nonce < look.count,
        (flight) => settle(flight, look.head, broken !== null),
      )
      await each(
        (nonce) => nonce >= look.count,
        async (flight) => {
          putBack(flight)
          await move(flight, look.count)
        },
      )
      await options.gaps.close(look, broken)
    },
  }
}

/** No node has answered: more money would change nothing. */
function isUnheard(reception: Reception | undefined): boolean {
  return reception?.held === 0 && reception.refused === 0
}

/** Whoever answered does not take it. */
function isRefused(reception: Reception | undefined): boolean {
  return reception?.held === 0 && reception.refused > 0
}
