import { claimedRunMessage, isRunMessageSigned } from '../../protocol/runMessage.js'
import type { Logger } from '../../service/logger.js'
import { oneAtATime, withTimeout } from '../../service/waiting.js'
import { RunFailure } from '../failures.js'
import type { DoorCode, DoorRequest } from '../resident/door.js'
import { orRefusal } from './failures.js'

/** The longest answer. One that takes longer is dropped, and no other begins before it has ended. */
const TIMEOUT_MS = 120_000

/** A route for the operator and the server, who sign with the secret of jobs: one caller at a time. */
export function signedRoute<Question>(route: {
  readonly kind: 'challenge' | 'report'
  readonly secret: string
  /** What of a request is signed, as the body of a run's message is. */
  readonly signed: (request: DoorRequest) => string
  /** Undefined for another text than the route takes. */
  readonly read: (signed: string) => Question | undefined
  readonly answer: (question: Question) => Promise<object | DoorCode>
  readonly logger: Logger
}): (request: DoorRequest) => Promise<object | DoorCode> {
  const { kind, secret, logger } = route
  const answer = oneAtATime(route.answer)
  return async (request) => {
    const text = route.signed(request)
    const claimed = claimedRunMessage(kind, request.headers)
    if (claimed === undefined || !isRunMessageSigned(secret, claimed, text)) return 'run-unauthorized'
    const question = route.read(text)
    if (question === undefined) return 'invalid-body'
    return orRefusal(logger, kind === 'report' ? 'report' : 'evidence', async () => {
      const answered = await withTimeout(answer(question), TIMEOUT_MS)
      if (answered === undefined) throw new RunFailure('out-of-time')
      return answered
    })
  }
}
