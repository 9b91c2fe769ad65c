import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { AccountView } from './account.js'
import { type Flight, isFiller } from './flight.js'
import type { Flights } from './flights.js'
import type { ForeignUse } from './foreignUse.js'
import type { GasCount } from './gasCount.js'
import type { FindMined, MinedTransaction } from './mined.js'
import type { Nonces } from './nonces.js'
import type { SettledTransactions } from './settled.js'

export interface FlightEndsOptions {
  readonly findMined: FindMined
  readonly account: Pick<AccountView, 'isTaken'>
  /** The relayer's address. */
  readonly address: Hex
  readonly flights: Flights
  readonly settled: SettledTransactions
  readonly nonces: Nonces
  readonly confirmations: number
  readonly gasCount: GasCount
  readonly foreignUse: Pick<ForeignUse, 'suspect'>
  readonly logger: Logger
}

/** Finds out what a nonce that is used up was used for. */
export interface FlightEnds {
  /**
   * @param head the latest block's number
   * @param isBroken whether blocks were exchanged since the last look
   * @throws ChainUnavailableError, ChainAnswerError
   */
  check(flight: Flight, head: number, isBroken: boolean): Promise<void>
}

/**
 * One node may know of a new count before another knows of the receipt that goes with it. After so long it is believed
 * on a chain, too, that makes no further blocks to judge by.
 */
const RECEIPT_LAG_MS = 5_000
export function createFlightEnds(options: FlightEndsOptions): FlightEnds {
  const {
    findMined,
    account,
    address,
    flights,
    settled,
    nonces,
    confirmations,
    gasCount,
    foreignUse,
    logger,
  } = options

  /** Of what went out earlier under another nonce, only an effect: it may have failed then, and be tried again now. */
  function endsFlight(flight: Flight, index: number, transaction: MinedTransaction): boolean {
    const hasItsNonce = flight.transactions[index]?.nonce === flight.nonce
    return hasItsNonce || (transaction.succeeded && !isFiller(transaction, address))
  }

  function report(flight: Flight, transaction: MinedTransaction): void {
    nonces.done(flight.nonce)
    flight.owner.used(gasCount(transaction))
    if (isFiller(transaction, address)) {
      flights.finish(flight, { kind: 'refused' })
      return
    }
    settled.add({ transaction, dropped: flight.owner.dropped })
    flights.finish(flight, { kind: 'mined', transaction })
  }

  /** By blocks or by the clock, whichever is first: a process may not live as long as its patience. */
  async function missed(flight: Flight, head: number): Promise<void> {
    flight.missedSince ??= performance.now()
    const own = flight.transactions.filter(({ nonce }) => nonce === flight.nonce)
    const hashes = own.map(({ hash }) => hash)
    const isOverdue = performance.now() - flight.missedSince >= RECEIPT_LAG_MS
    if (!isOverdue && !(await account.isTaken(flight.nonce, hashes, head))) return
    logger.warn('nonce lost', { nonce: flight.nonce, txHash: flight.newest.hash, reason: 'taken' })
    nonces.done(flight.nonce)
    nonces.distrust('pending')
    flights.finish(flight, { kind: 'displaced' })
    foreignUse.suspect(flight.nonce)
  }

  return {
    async check(flight, head, isBroken) {
      const isDeep = (block: number) => head - block + 1 >= confirmations
      if (!isBroken && flight.blockNumber !== undefined && !isDeep(flight.blockNumber)) return
      const found = await Promise.all(flight.transactions.map(({ hash }) => findMined(hash)))
      const mined = found.findLast(
        (transaction, index) => transaction !== null && endsFlight(flight, index, transaction),
      )
      flight.blockNumber = mined?.blockNumber
      if (!mined) return missed(flight, head)
      flight.missedSince = undefined
      flight.land()
      if (isDeep(mined.blockNumber)) report(flight, mined)
    },
  }
}
