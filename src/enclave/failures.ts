import { BrokerError, type BrokerErrorKind } from '../broker/index.js'
import { ChainAnswerError, ChainUnavailableError } from '../chain/errors.js'
import type { Revert } from '../protocol/api.js'
import type { RunResult } from '../protocol/job.js'
import type { WaitReason } from '../protocol/outcome.js'

/** Kinds of failure that the server may know: none of them reveals what an order is about. */
export type FailureCode =
  | 'out-of-time'
  | 'conflict'
  | 'order-unknown'
  | 'chain-unavailable'
  | 'broker-unavailable'
  | 'broker-rate-limited'
  | 'broker-unauthorized'
  | 'broker-refused'
  | 'broker-unreadable'
  | 'broker-mismatch'
  | 'broker-shared'
  | 'relay-unavailable'
  | 'relay-refused'
  | 'reverted'
  | 'ledger-unreadable'
  | 'portfolio-full'
  | WaitReason
  | 'internal-error'

/** Ends a run as `failed`: another run may do better. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure'

  constructor(readonly code: FailureCode) {
    super(`the run failed: ${code}`)
  }
}

/** The order may go on later: the platform is paused, the relay has no gas for it today, or it is not its turn at the broker. */
export class PostponedError extends Error {
  override readonly name = 'PostponedError'

  /**
   * @param until Unix seconds
   * @param notice why, where the employee alone may know
   */
  constructor(
    readonly code: WaitReason,
    readonly until: number,
    readonly notice?: RunResult['notice'],
  ) {
    super(`an order has to wait: ${code}`)
  }
}

/** The kind of a failure. The server reads the code, so it must reveal nothing of an order's content. */
export function codeOf(error: unknown): FailureCode {
  if (error instanceof RunFailure || error instanceof PostponedError) return error.code
  if (error instanceof BrokerError) return codeOfBroker(error)
  if (error instanceof ChainUnavailableError || error instanceof ChainAnswerError) return 'chain-unavailable'
  return 'internal-error'
}

const BROKER_CODES: Readonly<Record<BrokerErrorKind, FailureCode>> = {
  ambiguous: 'broker-unavailable',
  unavailable: 'broker-unavailable',
  'rate-limited': 'broker-rate-limited',
  unauthorized: 'broker-unauthorized',
  'not-found': 'broker-refused',
  rejected: 'broker-refused',
}

/** A missing answer may come on the next try. An unreadable one stays unreadable. */
function codeOfBroker({ kind, reason }: BrokerError): FailureCode {
  return reason === 'unreadable' ? 'broker-unreadable' : BROKER_CODES[kind]
}

/** The state that a decision was computed from has changed: read it again. A stale authorization is never sent twice. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}

/** Reverts that only mean that another write came first. */
const CONFLICTS = new Set([
  'VersionConflict',
  'HistoryConflict',
  'PartConflict',
  'OrderNotOpen',
  'OrderNotRefunded',
  'OrderMismatch',
  'ActionsConflict',
  'MoveConflict',
  'BatchConflict',
  'SupplyConflict',
  'CountedAlready',
  'NotInstitutionAdmin',
])

/** The failure that a revert means to a run. */
export function failureOf({ name, args }: Revert): ConflictError | PostponedError | RunFailure {
  if (name === 'PlatformPaused') return new PostponedError('paused', Number(args.until))
  return CONFLICTS.has(name) ? new ConflictError(name) : new RunFailure('reverted')
}

/** How often one run may begin again. */
const MAX_RESTARTS = 5

/** Runs `attempt` from its beginning whenever it meets a conflict, at most five more times. */
export async function restarting<T>(attempt: () => Promise<T>): Promise<T> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      if (restarts === MAX_RESTARTS) throw new RunFailure('conflict')
    }
  }
}
