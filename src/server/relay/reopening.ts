import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../../service/logger.js'
import { Problem } from '../http/problems.js'
import type { ReceiptStore, RelayRecord } from '../store/receipts.js'
import type { Course } from './course.js'
import { pause } from './courseSteps.js'
import type { Courses } from './courses.js'
import { reopened } from './receipts.js'

export interface ReopeningDeps {
  readonly store: Pick<ReceiptStore, 'get' | 'put'>
  readonly courses: Courses
  /** Takes up a record that is on disk. */
  readonly resume: (record: RelayRecord) => Course
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
  readonly logger: Logger
}

/**
 * For an authorization whose transaction a reorganization took back: it is followed again, and sent again where no pool
 * has kept it. A record that can't be written, as the disk fails, is tried again until the server stops.
 */
export function createReopening(deps: ReopeningDeps): (digest: Hex) => void {
  const { store, courses, stopping, logger } = deps

  async function open(digest: Hex): Promise<Course> {
    const record = await store.get(digest)
    if (record === undefined) throw new Problem('receipt-not-found')
    const next = reopened(record, new Date())
    await store.put(digest, next)
    logger.warn('transaction put back', { digest, txHash: record.receipt.txHash })
    return deps.resume(next)
  }

  function reopen(digest: Hex): void {
    if (stopping.aborted) return
    const current = courses.of(digest)
    if (current !== undefined) {
      const again = () => reopen(digest)
      current.then((course) => course.end).then(again, again)
      return
    }
    courses.register(digest, open(digest)).catch(async (error: unknown) => {
      logger.warn('transaction not put back yet', { digest, ...describeError(error) })
      await pause(stopping)
      reopen(digest)
    })
  }

  return reopen
}
