import { NotSubmittedError, toTradingError } from '../client/index.js'
import { EXIT, type ExitCode } from './exitCodes.js'

/** Arguments or settings are wrong; the message says which, and never quotes a secret. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user ended the command. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

/** The reader of standard output closed it: an interruption without a reader to report it to. */
export class OutputClosed extends Interruption {
  constructor() {
    super('the reader of the results closed the output')
  }
}

/** The operation has not finished in time and continues on its own. */
export class PendingError extends Error {
  override readonly name = 'PendingError'
}

/** How a command failed: `code` for programs, `message` for people. */
export interface Failure {
  readonly exit: ExitCode
  /** Stable and kebab-case: the server's, the client's or the contract's own, or one of this command line. */
  readonly code: string
  readonly message: string
  /** The request id of the server's answer; quote it in a report. */
  readonly requestId: string | null
}

export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) return localFailure(EXIT.usage, 'usage', error.message)
  if (error instanceof Interruption) return localFailure(EXIT.interrupted, 'interrupted', error.message)
  if (error instanceof PendingError) return localFailure(EXIT.pending, 'pending', error.message)
  const { code, message, requestId, retryable } = toTradingError(error)
  const exit = EXITS.get(code) ?? (retryable ? EXIT.unavailable : EXIT.failed)
  return { exit, code, message: wordsOf(error) ?? message, requestId }
}

function localFailure(exit: ExitCode, code: string, message: string): Failure {
  return { exit, code, message, requestId: null }
}

/** By `code`, where `retryable` does not decide. */
const EXITS = new Map<string, ExitCode>([
  // The same command would open a second escrow: `order resume` submits the order.
  ['not-submitted', EXIT.failed],
  ['policy-rejected', EXIT.refused],
  ['unlisted-symbol', EXIT.usage],
  ['transaction-pending', EXIT.pending],
])

/** Where the command line can say more than the library. */
function wordsOf(error: unknown): string | undefined {
  if (!(error instanceof NotSubmittedError)) return undefined
  const { message } = failureOf(error.cause)
  return `the escrow is open, but the order did not reach the server: run "order resume ${error.order.orderId}" (${message})`
}
