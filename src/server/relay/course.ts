import { isFinal, type Receipt } from '../../protocol/api.js'
import { describeError, type Logger } from '../../service/logger.js'
import { within } from '../async/waiting.js'
import type { GasPurpose, ReceiptStore, RelayRecord } from '../store/receipts.js'
import { type CourseRecord, createCourseRecord } from './courseRecord.js'
import { type CourseStepsDeps, createCourseSteps, pause, type Step } from './courseSteps.js'

export interface CourseDeps extends CourseStepsDeps {
  readonly store: ReceiptStore
  /** Is told of each course's end. */
  readonly onEnd?: ((receipt: Receipt) => void) | undefined
  readonly logger: Logger
}

/** One authorization, from its record on disk to its end. */
export interface Course {
  current(): Receipt
  /** What its gas is for. */
  readonly purpose: GasPurpose
  /** The final receipt, or, when the server stops before, the last one. Never rejects. */
  readonly end: Promise<Receipt>
}

/** A call whose transaction is not signed and saved after this long waits for something. */
const SOON_MS = 200

/** Takes up a record that is on disk. */
export function resumeCourse(deps: CourseDeps, stored: RelayRecord): Course {
  const record = createCourseRecord(deps.store, stored, { isKept: true })
  return run(deps, record, createCourseSteps(deps, record))
}

/**
 * Begins with a call that has just been checked. Its record is written when its transaction is signed, or before that
 * when it has to wait. Resolves then: from there on it comes to its end, by another process if need be.
 *
 * @throws StorageError: nothing was sent then, and nothing will be
 */
export async function startCourse(deps: CourseDeps, initial: RelayRecord, gasLimit: bigint): Promise<Course> {
  const record = createCourseRecord(deps.store, initial, { isKept: false })
  const course = run(deps, record, createCourseSteps(deps, record, gasLimit))
  const isSoon = await within(
    record.kept.then(() => true),
    SOON_MS,
  )
  if (!isSoon) await record.keep()
  return course
}

/** A course that needs no steps. */
export function endedCourse({ receipt, purpose }: RelayRecord): Course {
  return { current: () => receipt, purpose, end: Promise.resolve(receipt) }
}

function run(deps: CourseDeps, record: CourseRecord, step: Step): Course {
  const current = () => record.current().receipt
  // It rejects when the record is refused by the disk, which whoever waits for `kept` is told.
  const end = takeSteps(deps, record, step)
    .catch(() => undefined)
    .then(current)
  return { current, purpose: record.current().purpose, end }
}

/**
 * Whatever fails on the way (nodes, disk) is tried again until the server stops: the next process then goes on from the
 * record.
 */
async function takeSteps(deps: CourseDeps, record: CourseRecord, step: Step): Promise<void> {
  const { stopping, logger } = deps
  const { digest, primaryType } = record.current().receipt
  while (!stopping.aborted) {
    try {
      if (await step()) break
    } catch (error) {
      logger.warn('relay step failed', { digest, primaryType, ...describeError(error) })
      await record.keep()
      await pause(stopping)
    }
  }
  await record.keep()
  const { receipt } = record.current()
  const says = isFinal(receipt) ? 'authorization relayed' : 'authorization left for the next start'
  logger.info(says, { digest, primaryType, txHash: receipt.txHash, outcome: receipt.status })
  deps.onEnd?.(receipt)
}
