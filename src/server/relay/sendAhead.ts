import { type Flight, isHeld, isRefused } from './flight.js'
import type { Flights } from './flights.js'
import type { Outbox } from './outbox.js'

export interface SendAheadOptions {
  readonly flights: Pick<Flights, 'of' | 'waitingBelow'>
  readonly outbox: Pick<Outbox, 'broadcast'>
  /** Transactions that are sent while a lower nonce is in no block; undefined: as many as the nodes take. */
  readonly limit: number | undefined
}

/** Offers transactions to the nodes, in the order of their nonces and no further ahead than the nodes take them. */
export interface SendAhead {
  /** Whether it would be sent too early now. */
  isTooEarly(flight: Flight): boolean
  /** Sends it, unless it would come too early: then it is not sent, and has to be offered again later. */
  offer(flight: Flight): void
  /** @param count the lowest nonce that is free on the chain */
  saw(count: number): void
}

/**
 * Some chains take only the account's next nonce (Arbitrum's class), others a certain number ahead. So nothing is
 * offered above a transaction that was refused. Once a node takes that one, the next follows at once.
 */
export function createSendAhead({ flights, outbox, limit }: SendAheadOptions): SendAhead {
  let free = 0

  function isTooEarly({ nonce }: Flight): boolean {
    const below = flights.waitingBelow(nonce).filter((flight) => flight.nonce >= free)
    return below.length > (limit ?? below.length) || below.some(isRefused)
  }

  function offer(flight: Flight): void {
    if (isTooEarly(flight)) return
    void outbox.broadcast(flight).then(() => {
      const next = flights.of(flight.nonce + 1)
      if (next !== undefined && isHeld(flight) && isRefused(next)) offer(next)
    })
  }

  return {
    isTooEarly,
    offer,
    saw(count) {
      free = count
    },
  }
}
