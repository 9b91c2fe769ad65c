// How server and enclave are set for the bench of orders: impatient, with everything in its proportion.
import { RELAY_SETTINGS } from '../support/settings.js'

/** Blocks that a reorganization removes at most: enclave and relay act on what lies deeper. */
export const DEEPEST_REORG = 10

export const SERVER_SETTINGS = {
  ...RELAY_SETTINGS,
  RPC_TIMEOUT: '3s',
  CONFIRMATIONS: `${DEEPEST_REORG + 1}`,
  // Far above what the traders ask, and a bound for the hostile client.
  RATE_LIMIT_PER_MINUTE: '3000',
  MAX_UNDER_WAY_PER_CLIENT: '300',
  // The least that the configuration allows.
  ORDER_RUN_TIMEOUT: '90s',
}

/** An order is given up only after every call that may be on its way to the broker is over: that stays so. */
export const ENCLAVE_SETTINGS = {
  CHAIN_DEPTH: `${DEEPEST_REORG}`,
  FILL_WAIT: '1500ms',
  CONFIRM_POLL_INTERVAL: '100ms',
  BROKER_TIMEOUT: '2500ms',
  AMBIGUOUS_RETRY_AFTER: '300ms',
  ABSENT_RECHECK_AFTER: '8s',
  RELAY_TIMEOUT: '8s',
  RELAY_RETRY_AFTER: '3s',
}

/** How many orders an employee has open at once, of the twenty that the contract allows. */
export const MOST_OPEN = 8

/** A life whose planned end does not come about ends after this long. */
export const LIFE_LIMIT_MS = 15_000

/** A life begins with its orders when those before it have ended but for so many, or after this long. */
export const BACKLOG = 6
export const BACKLOG_LIMIT_MS = 20_000

/**
 * The longest that no order may end once no more goes wrong: a run whose enclave does not answer is waited for until thirty
 * seconds after its end (120 s), then it begins again. The rest is for a machine that others use.
 */
export const STALL_BOUND_MS = 180_000

/**
 * The same for the long form. The enclave tries again what it could not do after half of the time that it has been about
 * it, a quarter of an hour at most, and a clock that is set ahead by an hour makes that time long; a minute for the run.
 */
export const LONG_STALL_BOUND_MS = 16 * 60_000

/**
 * How long the run of an enclave that was killed may count as under way while a server is up. The server starts the enclave again within
 * five seconds, the enclave posts again within fifteen what the server could not take, and the rest is for a machine that others use.
 */
export const RESTART_BOUND_MS = 30_000

/** How long records and processes of ended orders may stay after the last order's end. */
export const LEFTOVER_BOUND_MS = 15_000
