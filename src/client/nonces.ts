import { ClientError } from './errors.js'

/**
 * Nonces of one account's intents: `max(stored + 1, Date.now())`, so that two devices do not choose the same nonce.
 * Never returns a nonce twice.
 * @returns the next nonce, given the one stored in the portfolio (0 if there is none)
 */
export function createNonces(now: () => number = Date.now): (stored: number) => number {
  let last = 0
  return (stored) => {
    const nonce = Math.max(stored + 1, last + 1, now())
    if (!Number.isSafeInteger(nonce)) {
      throw new ClientError('invalid-order', 'The portfolio has used up its nonces (2^53 − 1).')
    }
    last = nonce
    return nonce
  }
}
