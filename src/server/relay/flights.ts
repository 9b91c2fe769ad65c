import type { Flight, Outcome } from './flight.js'

/** Wei that transactions may cost at most. */
export interface Commitments {
  /** Those under way. */
  readonly open: bigint
  /** Those that have ended, since the start. What a balance that was read before still has, and the account may not. */
  readonly ended: bigint
}

/** Everything under way, each under its nonce. */
export interface Flights {
  add(flight: Flight): void
  /** Takes it out, and tells whoever waits for it how it ended. */
  finish(flight: Flight, outcome: Outcome): void
  /** In the order of their nonces. */
  all(): Flight[]
  of(nonce: number): Flight | undefined
  /** Those below the nonce that are in no block, as far as was seen. In no order. */
  waitingBelow(nonce: number): Flight[]
  count(): number
  committed(): Commitments
}

/** @param onDisplaced given each call whose nonce was given up */
export function createFlights(onDisplaced: (flight: Flight) => void): Flights {
  const flights = new Set<Flight>()
  let ended = 0n
  return {
    add(flight) {
      flights.add(flight)
    },
    finish(flight, outcome) {
      if (flights.delete(flight)) ended += flight.maxCost
      if (outcome.kind === 'displaced') onDisplaced(flight)
      flight.finish(outcome)
    },
    all: () => [...flights].toSorted((a, b) => a.nonce - b.nonce),
    of: (nonce) => [...flights].find((flight) => flight.nonce === nonce),
    waitingBelow: (nonce) =>
      [...flights].filter((flight) => flight.nonce < nonce && flight.blockNumber === undefined),
    count: () => flights.size,
    committed: () => ({ open: [...flights].reduce((sum, { maxCost }) => sum + maxCost, 0n), ended }),
  }
}
