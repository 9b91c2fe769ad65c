import { Problem } from '../http/errors.js'
import { RelayRefusal } from './authorization.js'

/** Runs an action of the relay. A refusal becomes a problem. */
export async function withRelayProblems<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw error instanceof RelayRefusal ? problemOf(error) : error
  }
}

function problemOf({ reason, cause }: RelayRefusal): Problem {
  return new Problem(reason.code, {
    cause,
    ...('retryAfterMs' in reason && {
      headers: { 'Retry-After': String(Math.ceil(reason.retryAfterMs / 1_000)) },
    }),
    extensions: {
      ...('revert' in reason && { revert: reason.revert }),
      ...('quota' in reason && { quota: reason.quota }),
    },
  })
}
