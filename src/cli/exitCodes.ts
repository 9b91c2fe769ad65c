/** The command line's exit codes; docs/command-line.md and every help text list them. */
export const EXIT = {
  done: 0,
  /** Refused by server, contract or wallet, or unexpected. */
  failed: 1,
  /** Arguments or settings are wrong; the command had no effect. */
  usage: 2,
  /** The enclave refused: the order was refunded or reclaimed, the rulebook rejected. */
  refused: 3,
  /** Not finished in time; it continues on its own. */
  pending: 4,
  /** The server or the chain is unreachable or overloaded: try again. */
  unavailable: 5,
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_CODES_HELP = `Exit codes: 0 done, 1 failed, 2 wrong arguments or settings, 3 refused by the enclave, 4 not finished in time (it continues),
5 server or chain unavailable, 130 interrupted.`
