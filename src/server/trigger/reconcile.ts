import * as z from 'zod'
import type { BrokerClock } from '../../broker/index.js'
import { createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { untilAborted } from '../../service/waiting.js'
import { createStateDocument } from '../store/documents.js'
import type { Engine } from '../store/engine.js'
import type { TriggerRateLimit } from './rateLimit.js'
import type { Run, Runs } from './runner.js'

const CHECK_MS = 30_000
/** Pause after a failed run: doubled each time, up to the longest. */
const RETRY_MS = 30_000
const RETRY_MAX_MS = 15 * 60_000

/** The reconcile after each market's close: never two runs at once, and a missed run is caught up on. */
export function createReconcile(options: {
  readonly runs: Pick<Runs, 'start'>
  readonly rateLimit: Pick<TriggerRateLimit, 'acquire'>
  readonly clock: { getClock(): Promise<BrokerClock> }
  readonly engine: Engine
  readonly logger: Logger
}) {
  const { runs, rateLimit, clock, logger } = options
  const store = createStateDocument({ ...options, id: 'reconcile', schema: stateSchema })
  const earlier: Run[] = []
  let failures = 0
  /** Milliseconds of `performance.now()`. */
  let notBefore = 0
  let wasOpen = false

  /** The state to save after the due run; undefined when none is due. */
  async function due(state: ReconcileState): Promise<ReconcileState | undefined> {
    const doneAt = new Date().toISOString()
    const market = await clock.getClock()
    const isDue = isCloseOver(state, market, wasOpen)
    wasOpen = market.isOpen
    const nextClose = market.nextClose.toISOString()
    if (isDue) return { doneAt, nextClose }
    if (nextClose !== state.nextClose) await store.save({ ...state, nextClose })
    return undefined
  }

  async function tick(signal: AbortSignal): Promise<void> {
    for (const run of earlier.splice(0)) await follow(run, signal)
    if (performance.now() < notBefore) return
    const next = await due((await store.load()) ?? { doneAt: null, nextClose: null })
    if (next === undefined) return
    if (!(await untilAborted(rateLimit.acquire(), signal))) return
    const isDone = await follow(await runs.start({ job: 'reconcile' }), signal)
    if (signal.aborted) return
    failures = isDone ? 0 : failures + 1
    notBefore = isDone ? 0 : performance.now() + Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MAX_MS)
    // A failed reconcile stays due. The stored close shows that to a later term too, but an unannounced one only this does.
    wasOpen ||= !isDone
    if (isDone) await store.save(next)
  }

  return {
    /** Adopts an earlier server's run: no other starts before its end. Call it before the service starts. */
    adopt(run: Run) {
      earlier.push(run)
      run.offerAgain?.({ job: 'reconcile' })
    },
    service: createPoller({ name: 'reconcile', intervalMs: CHECK_MS, tick, logger }),
  }
}

/** Whether the run succeeded. It goes on when the server stops. */
async function follow(run: Run, signal: AbortSignal): Promise<boolean> {
  const end = await untilAborted(run.end, signal)
  if (end === undefined) return false
  await run.discard()
  return end.how === 'result' && end.result?.outcome === 'done'
}

/**
 * Whether the market has closed since the last reconcile, by the broker's own time. At the very first start, outside market
 * hours, it has.
 *
 * @param wasOpen at the last check, which also shows an unannounced close
 */
export function isCloseOver(
  { nextClose }: ReconcileState,
  { timestamp, isOpen }: Pick<BrokerClock, 'timestamp' | 'isOpen'>,
  wasOpen: boolean,
): boolean {
  if (wasOpen && !isOpen) return true
  return nextClose === null ? !isOpen : timestamp.getTime() >= Date.parse(nextClose)
}

const stateSchema = z.strictObject({
  /** The end of the latest reconcile that succeeded. */
  doneAt: z.iso.datetime().nullable(),
  /** The market's close after which the next one is due. */
  nextClose: z.iso.datetime().nullable(),
})
/** Shows a new term whether it missed a reconcile. */
type ReconcileState = z.output<typeof stateSchema>
