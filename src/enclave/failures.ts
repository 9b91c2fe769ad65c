import type { Revert } from '../protocol/api.js'

/** Kinds of failure that the server may know: none of them reveals anything about an order. */
export type FailureCode =
  | 'out-of-time'
  | 'conflict'
  | 'order-unknown'
  | 'chain-unavailable'
  | 'broker-unavailable'
  | 'broker-mismatch'
  | 'relay-unavailable'
  | 'relay-refused'
  | 'reverted'
  | 'ledger-unreadable'
  | 'paused'
  | 'internal-error'

/** Ends a run as `failed`: another run may do better. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure'

  constructor(readonly code: FailureCode) {
    super(`the run failed: ${code}`)
  }
}

/** A contract refused an authorization, and nothing of it took effect. */
export class RevertedError extends Error {
  override readonly name = 'RevertedError'

  constructor(readonly revert: Revert) {
    super(`an authorization was refused: ${revert.name}`)
  }
}

/** The platform is paused: contracts refuse everything that the enclave signs. */
export class PausedError extends Error {
  override readonly name = 'PausedError'

  /** @param until Unix seconds */
  constructor(readonly until: number) {
    super('the platform is paused')
  }
}

/** The state that a decision was computed from has changed: read it again. A stale authorization is never sent twice. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}

/** Reverts that say no more than that something else was first. */
const CONFLICTS = new Set([
  'VersionConflict',
  'HistoryConflict',
  'OrderNotOpen',
  'OrderNotRefunded',
  'OrderMismatch',
  'BatchConflict',
  'SupplyConflict',
  'CountedAlready',
  'NotInstitutionAdmin',
])

/** The failure that a revert means to a run. */
export function failureOf(revert: Revert): ConflictError | RevertedError | PausedError {
  if (revert.name === 'PlatformPaused') return new PausedError(Number(revert.args.until))
  return CONFLICTS.has(revert.name) ? new ConflictError(revert.name) : new RevertedError(revert)
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
