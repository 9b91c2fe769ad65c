import type { Reception } from './broadcast.js'
import type { Flight } from './flight.js'
import type { Flights } from './flights.js'
import type { Nonces } from './nonces.js'
import type { Outbox } from './outbox.js'

export interface ResendingOptions {
  readonly outbox: Outbox
  readonly nonces: Nonces
  readonly flights: Flights
  readonly resubmitAfterMs: number
}

/** Sends again what is in no block, when it is time. */
export interface Resending {
  /**
   * @param count the lowest nonce that is free on the chain
   * @throws what the owner's `save` and `isNeeded` throw, and ChainUnavailableError
   */
  urge(flight: Flight, count: number): Promise<void>
}

/** What no node holds is offered again after this long: it may have come before the nonce below it. */
const OFFER_AGAIN_MS = 1_000

export function createResending(options: ResendingOptions): Resending {
  const { outbox, nonces, flights, resubmitAfterMs } = options

  /** Sent again at once when it was in a block before. */
  function leaveBlock(flight: Flight): void {
    if (flight.blockNumber !== undefined) flight.sentAt = undefined
    flight.blockNumber = undefined
    flight.missedSince = undefined
  }

  /** Its effect is there by another transaction. Should its nonce be missed, it is filled. */
  function letGo(flight: Flight): void {
    nonces.release(flight.nonce)
    flights.finish(flight, { kind: 'displaced' })
  }

  return {
    async urge(flight, count) {
      leaveBlock(flight)
      const { sentAt, waitsSince, reception, nonce } = flight
      const now = performance.now()
      if (sentAt === undefined) {
        if (await flight.owner.isNeeded()) outbox.broadcast(flight)
        else letGo(flight)
      } else if (now - waitsSince >= resubmitAfterMs && !isUnheard(reception)) {
        await (isRefused(reception) && nonce === count ? outbox.giveUp(flight) : outbox.resubmit(flight))
      } else if (reception?.held === 0 && now - sentAt >= OFFER_AGAIN_MS) {
        outbox.broadcast(flight)
      }
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
