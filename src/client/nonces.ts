// What time it is for an order, and the nonce that follows.

/** The time in Unix seconds, by the newest block and a device's clock that may be wrong. */
export function clockAt(blockTime: number): number {
  return Math.max(blockTime, Math.floor(boundedNow(Date.now(), blockTime) / 1_000))
}

function boundedNow(now: number, blockTime: number): number {
  return Math.min(now, blockTime * 1_000 + MAX_AHEAD_MS)
}

/** How far a device's clock is trusted beyond the newest block. The enclave refuses a nonce more than a day beyond the block that it sees. */
const MAX_AHEAD_MS = 12 * 60 * 60 * 1_000

/**
 * Nonces of one account's intents: `max(stored + 1, Date.now())`, so that two devices do not choose the same nonce. A clock that is
 * half a day ahead of the chain counts as exactly that. Never returns a nonce twice, except 2^53 − 1, the last one: its order is
 * refused, and the platform's owner can then lower the stored nonce.
 * @returns the next nonce, given the one stored in the portfolio (0 if there is none) and the newest block's time in Unix seconds
 */
export function createNonces(now: () => number = Date.now): (stored: number, blockTime: number) => number {
  let last = 0
  return (stored, blockTime) => {
    const time = boundedNow(now(), blockTime)
    last = Math.min(Math.max(stored + 1, last + 1, time), Number.MAX_SAFE_INTEGER)
    return last
  }
}
