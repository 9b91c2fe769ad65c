// How the server is set for the bench: impatient, so that its patience fits many times into a run.

export const BLOCK_SECONDS = 0.2

export const RELAY_SETTINGS = {
  RPC_TIMEOUT: '1s',
  RELAY_POLL_INTERVAL: '100ms',
  RELAY_RESUBMIT_AFTER: '2s',
  RELAY_WAIT: '3s',
  // The bench has few accounts, and many orders of each.
  RELAY_ACCOUNT_DAILY_GAS: '5000000000',
  // All callers of the bench are at one address, and ask for their receipts at once.
  MAX_CONNECTIONS_PER_CLIENT: '5000',
  NARRATOR_INTERVAL: '1m',
  LOG_LEVEL: 'info',
}

/**
 * The longest that nothing may end while a server is up, and the longest that all of it may take once no more goes
 * wrong. Everything that the relay ever waits for, once and one after the other, is 21 s: a request's time-out (1 s), a
 * head that trails (2 s), a look at what was settled (5 s), a nonce that is used up and whose receipt is not there
 * (5 s), a gap (3 s), two resubmissions (4 s) and the second after a failed step. The rest is for a machine that
 * others use. A nonce that is stuck for good is stuck for longer.
 */
export const STALL_BOUND_MS = 60_000

/** A life whose planned end does not come about ends after this long. */
export const LIFE_LIMIT_MS = 15_000
