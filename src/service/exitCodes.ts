/** The exit codes of every command; each help text, docs/command-line.md and docs/operations/first-day.md list them. */
export const EXIT = {
  /** Done, or nothing had to change. */
  done: 0,
  /** Refused by server, contract or wallet, a fault found, or unexpected. */
  failed: 1,
  /** Arguments or settings are wrong; the command had no effect. */
  usage: 2,
  /** Refused by the enclave (the order was refunded or reclaimed, the rulebook rejected), or at the command's question. */
  refused: 3,
  /** Not finished in time; it continues on its own. */
  pending: 4,
  /** The server or the chain is unreachable or overloaded: try again. */
  unavailable: 5,
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_CODES_HELP = `
Exit codes: 0 done, or nothing to do; 1 refused, failed, or a fault found; 2 wrong arguments or settings; 3 refused by the
enclave, or at the question; 4 not finished in time (it continues); 5 server or chain unavailable; 130 interrupted.`
