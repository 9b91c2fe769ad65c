import { isError } from 'ethers'
import { ChainUnavailableError } from '../chain/errors.js'
import { ClientError, ContractError, NotSubmittedError, ServerError } from '../client/index.js'
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

const UNAVAILABLE_STATUSES = new Set([429, 503, 504])
const UNAVAILABLE_CODES = new Set<string>(['server-unreachable', 'server-timeout', 'node-unavailable'])
const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])

export function failureOf(error: unknown): Failure {
  const local = (exit: ExitCode, code: string, message: string): Failure => ({
    exit,
    code,
    message,
    requestId: null,
  })
  if (error instanceof UsageError) return local(EXIT.usage, 'usage', error.message)
  if (error instanceof Interruption) return local(EXIT.interrupted, 'interrupted', error.message)
  if (error instanceof PendingError) return local(EXIT.pending, 'pending', error.message)
  if (error instanceof NotSubmittedError) return notSubmitted(error)
  if (error instanceof ServerError) return serverFailure(error)
  if (error instanceof ClientError) return local(clientExit(error.code), error.code, error.message)
  if (error instanceof ContractError) return local(EXIT.failed, error.code, contractMessage(error))
  if (isConnectionFailure(error)) {
    return local(EXIT.unavailable, 'chain-unavailable', 'the node at --rpc does not answer')
  }
  if (isError(error, 'INSUFFICIENT_FUNDS')) {
    return local(EXIT.failed, 'insufficient-funds', 'the wallet does not have enough ether for the gas')
  }
  return local(EXIT.failed, 'failed', shortMessage(error))
}

function notSubmitted(error: NotSubmittedError): Failure {
  const cause = failureOf(error.cause)
  const again = `the escrow is open, but the order did not reach the server: run "order resume ${error.order.orderId}"`
  return { ...cause, code: 'not-submitted', message: `${again} (${cause.message})` }
}

function serverFailure(error: ServerError): Failure {
  const { code, requestId, status } = error
  if (code === 'policy-rejected') {
    const message = `the enclave refused the rulebook: ${String(error.problem?.reason)}`
    return { exit: EXIT.refused, code, message, requestId }
  }
  const exit = UNAVAILABLE_STATUSES.has(status) ? EXIT.unavailable : EXIT.failed
  return { exit, code, message: error.message, requestId }
}

function clientExit(code: ClientError['code']): ExitCode {
  if (code === 'transaction-pending') return EXIT.pending
  return UNAVAILABLE_CODES.has(code) ? EXIT.unavailable : EXIT.failed
}

function contractMessage({ method, code, args }: ContractError): string {
  const listed = Object.entries(args).map(([name, value]) => `${name} ${value}`)
  return `the contract refused ${method}: ${code}${listed.length > 0 ? ` (${listed.join(', ')})` : ''}`
}

function isConnectionFailure(error: unknown): boolean {
  if (
    error instanceof ChainUnavailableError ||
    isError(error, 'NETWORK_ERROR') ||
    isError(error, 'TIMEOUT')
  ) {
    return true
  }
  return error instanceof Error && 'code' in error && CONNECTION_CODES.has(String(error.code))
}

/** An ethers error's message contains the whole transaction; its short message does not. */
function shortMessage(error: unknown): string {
  if (!(error instanceof Error)) return 'an unexpected error occurred'
  return 'shortMessage' in error ? String(error.shortMessage) : error.message
}
