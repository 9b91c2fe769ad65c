/** What the command line's exit code says; the README and every help text list them. */
export const EXIT = {
  done: 0,
  /** Refused by server, contract or wallet, or unexpected. */
  failed: 1,
  /** Arguments or settings are wrong; nothing was done. */
  usage: 2,
  /** The enclave refused: the order was refunded or reclaimed, the rulebook rejected. */
  refused: 3,
  /** Not over in time; it goes on by itself. */
  pending: 4,
  /** Server or chain cannot be reached, or are too busy: try again. */
  unavailable: 5,
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_CODES_HELP = `Exit codes: 0 done, 1 failed, 2 wrong arguments or settings, 3 refused by the enclave, 4 not over in time (it goes on),
5 server or chain unavailable, 130 interrupted.`
