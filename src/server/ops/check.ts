import { describeError, type Logger } from '../../service/logger.js'
import { withTimeout } from '../async/waiting.js'
import { type CheckReason, type CheckStatus, REASONS } from './reasons.js'

/** Looks at one part of the server: why it is not healthy, or null. */
export type Look = () => Promise<CheckReason | null>

export interface CheckResult {
  readonly status: CheckStatus
  /** Null when it is healthy. */
  readonly reason: CheckReason | null
}

/** A look that many may ask for. */
export interface Check {
  readonly name: string
  /** Answers within the time limit, whatever the look does. Never rejects. */
  result(): Promise<CheckResult>
}

interface CheckOptions {
  readonly name: string
  readonly look: Look
  readonly logger: Logger
  /** Time that a look may take. */
  readonly limitMs?: number
  /** Time that its result serves everybody. */
  readonly freshMs?: number
}

const LIMIT_MS = 2_000
const FRESH_MS = 1_000

/**
 * At most one look is under way, and its result serves whoever asks meanwhile or shortly after. A look that hangs is
 * waited for once: as long as it does, everybody else is told so at once, and no other is begun.
 */
export function createCheck(options: CheckOptions): Check {
  const { name, look, logger, limitMs = LIMIT_MS, freshMs = FRESH_MS } = options
  let last: { readonly result: CheckResult; readonly at: number } | undefined
  let underWay: { readonly result: Promise<CheckResult>; readonly startedAt: number } | undefined

  async function run(): Promise<CheckResult> {
    const result = resultOf(await look().catch(failed))
    last = { result, at: performance.now() }
    underWay = undefined
    return result
  }

  function failed(error: unknown): CheckReason {
    logger.error('check failed', { service: name, ...describeError(error) })
    return 'check-failed'
  }

  return {
    name,
    async result() {
      const now = performance.now()
      if (underWay === undefined) {
        if (last !== undefined && now - last.at < freshMs) return last.result
        underWay = { result: run(), startedAt: now }
      }
      const result = await withTimeout(underWay.result, underWay.startedAt + limitMs - now)
      return result ?? resultOf('no-answer-in-time')
    },
  }
}

function resultOf(reason: CheckReason | null): CheckResult {
  return { status: reason === null ? 'healthy' : REASONS[reason], reason }
}
