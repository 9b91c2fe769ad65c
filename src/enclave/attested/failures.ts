import { AttestationError } from '../../attestation/errors.js'
import { ProtocolError } from '../../protocol/errors.js'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import { codeOf, type FailureCode } from '../failures.js'
import type { DoorCode } from '../resident/door.js'
import { MachineError } from './machine.js'

/** What the log says of a failure: a code that stays, and of a machine's failure the tool or the question (`service`). */
export function describeFailure(error: unknown): LogFields {
  if (error instanceof MachineError)
    return { code: error.code, service: error.asked, ...describeError(error) }
  const hasCode = error instanceof AttestationError || error instanceof ProtocolError
  const code = hasCode ? error.code : codeOf(error)
  return { code, ...describeError(error) }
}

/** What the door answers in place of an answer that failed, and what the log says. */
const REFUSALS = {
  evidence: ['evidence-unavailable', 'evidence not given'],
  report: ['report-unavailable', 'report not made'],
} as const

const DEFECT: FailureCode = 'internal-error'

/** The answer, or the door's refusal where it fails. The caller may ask again, and the operator's log says why. */
export async function orRefusal<T>(
  logger: Logger,
  kind: keyof typeof REFUSALS,
  answer: () => Promise<T>,
): Promise<T | DoorCode> {
  try {
    return await answer()
  } catch (error) {
    const [refusal, message] = REFUSALS[kind]
    const fields = describeFailure(error)
    logger[fields.code === DEFECT ? 'error' : 'warn'](message, fields)
    return refusal
  }
}
