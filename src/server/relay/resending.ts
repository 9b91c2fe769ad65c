import type { Reception } from './broadcast.js'
import { type Flight, isHeld, isRefused } from './flight.js'
import type { Flights } from './flights.js'
import type { Nonces } from './nonces.js'
import type { Outbox } from './outbox.js'
import type { SendAhead } from './sendAhead.js'

export interface ResendingOptions {
  readonly outbox: Outbox
  readonly sendAhead: SendAhead
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

/** What no node holds is offered again after this long: a node may have room for it by now. */
const OFFER_AGAIN_MS = 1_000

export function createResending(options: ResendingOptions): Resending {
  const { outbox, sendAhead, nonces, flights, resubmitAfterMs } = options

  /** Sent again at once when it was in a block before. */
  function leaveBlock(flight: Flight): void {
    if (flight.blockNumber !== undefined) flight.sentAt = undefined
    flight.blockNumber = undefined
    flight.missedSince = undefined
  }

  /** Until its turn came it could not be mined, whatever it offers, and a refusal said nothing. Both begin anew. */
  function takeTurn(flight: Flight): void {
    flight.wasNext = true
    flight.waitsSince = performance.now()
    if (!isRefused(flight)) return
    flight.reception = undefined
    sendAhead.offer(flight)
  }

  /** Its effect is there by another transaction. Should its nonce be missed, it is filled. */
  function letGo(flight: Flight): void {
    nonces.release(flight.nonce)
    flights.finish(flight, { kind: 'displaced' })
  }

  async function sendFirst(flight: Flight): Promise<void> {
    if (sendAhead.isTooEarly(flight)) return
    if (await flight.owner.isNeeded()) sendAhead.offer(flight)
    else letGo(flight)
  }

  /** Nodes may have dropped it. Above a lower nonce it waits its turn, so more money would change nothing. */
  async function waitOn(flight: Flight): Promise<void> {
    if (await outbox.isOutbid(flight)) return outbox.resubmit(flight)
    flight.waitsSince = performance.now()
    if (isHeld(flight)) sendAhead.offer(flight)
  }

  return {
    async urge(flight, count) {
      leaveBlock(flight)
      const isNext = flight.nonce === count
      if (isNext && !flight.wasNext) takeTurn(flight)
      const { sentAt, waitsSince, reception } = flight
      const now = performance.now()
      if (sentAt === undefined) return sendFirst(flight)
      if (now - waitsSince >= resubmitAfterMs && !isUnheard(reception)) {
        if (!isNext) return waitOn(flight)
        return isRefused(flight) ? outbox.giveUp(flight) : outbox.resubmit(flight)
      }
      if (reception?.held === 0 && now - sentAt >= OFFER_AGAIN_MS) sendAhead.offer(flight)
    },
  }
}

/** No node has answered: more money would change nothing. */
function isUnheard(reception: Reception | undefined): boolean {
  return reception?.held === 0 && reception.refused === 0
}
