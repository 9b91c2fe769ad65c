import { setTimeout as sleep } from 'node:timers/promises'
import { FINAL_DEPTH, fitOf } from '../../chain/blockTracker.js'
import type { BlockId } from '../../chain/logReader.js'
import { describeError, type Logger } from '../../service/logger.js'
import { createAlarm } from '../../service/waiting.js'
import type { EscrowEvent, EscrowEvents, RangeReader } from './escrowLogs.js'

/** The shortest pause, however often it is poked. */
const LEAST_PAUSE_MS = 200

/**
 * Follows the escrow's events: first the chain's state, then new blocks, never twice at once. A failed poll is repeated. When
 * a reorganization has replaced the last block, the next poll goes some blocks back.
 */
export function createEscrowPoller(options: {
  readonly events: EscrowEvents
  readonly ranges: RangeReader
  readonly intervalMs: number
  /** Handles the chain's state at the start, and resolves with the events of the latest `FINAL_DEPTH` blocks. Repeatable. */
  readonly recover: () => Promise<{ readonly block: BlockId; readonly events: readonly EscrowEvent[] }>
  /**
   * Handles one event. An event comes again after a rejection, and may come again after a reorganization.
   * @param isPast the block was read before, so that later events may have been handled already
   */
  readonly onEvent: (event: EscrowEvent, isPast: boolean) => Promise<void>
  /** Called after each poll that reached the chain's head. When it rejects, the poll counts as failed. */
  readonly onPolled: () => Promise<void>
  readonly logger: Logger
}) {
  const { events, ranges, intervalMs, recover, onEvent, onPolled, logger } = options
  const window = createEventWindow()
  let stopping = false
  const alarm = createAlarm()
  let running: Promise<void> = Promise.resolve()
  let polledAt = performance.now()
  /** The last block that was handled; undefined before `recover`. */
  let last: BlockId | undefined

  async function start(): Promise<BlockId> {
    const { block, events: handled } = await recover()
    for (const event of handled) window.add(event)
    return block
  }

  async function poll(): Promise<void> {
    last ??= await start()
    const newFrom = last.number + 1
    const head = await events.head()
    const rereadFrom = Math.max(0, Math.min(newFrom, head.number + 1) - FINAL_DEPTH)
    window.forgetBefore(rereadFrom)
    let next = fitOf(last, head) === 'kept' ? newFrom : rereadFrom
    while (!stopping && next <= head.number) {
      const piece = await ranges.readPiece({ from: next, to: head.number })
      if (piece === undefined) return
      if (fitOf(last, piece.parent) === 'replaced') {
        next = rereadFrom
        continue
      }
      for (const event of window.unhandled(piece.events, next, piece.to)) {
        await onEvent(event, event.position.block < newFrom)
        window.add(event)
      }
      last = piece.last
      next = piece.to + 1
    }
    if (stopping) return
    await onPolled()
    polledAt = performance.now()
  }

  async function run(): Promise<void> {
    let failing = false
    while (!stopping) {
      try {
        await poll()
        if (failing) logger.info('escrow events read again')
        failing = false
      } catch (error) {
        // Logged once per outage, which may last for hours.
        if (!failing && !stopping) logger.warn('escrow events not read', describeError(error))
        failing = true
      }
      await alarm.wait(intervalMs)
      if (!stopping) await sleep(LEAST_PAUSE_MS)
    }
  }

  return {
    name: 'escrow poller',
    poke: () => alarm.ring(),
    /** Milliseconds since the last complete poll, or since it was built, by the monotonic clock. */
    silentMs: () => performance.now() - polledAt,
    async start() {
      running = run()
    },
    async stop() {
      stopping = true
      alarm.ring()
      await running
    },
  }
}

/** The latest handled events, so that reading them again does not handle them again. */
function createEventWindow() {
  const known = new Map<string, number>()

  /** Whether a handled event is no longer on the chain. */
  function hasLost(events: readonly EscrowEvent[], from: number, to: number): boolean {
    const present = new Set(events.map(({ id }) => id))
    return [...known].some(([id, block]) => block >= from && block <= to && !present.has(id))
  }

  return {
    /** The events of a range of blocks, both ends included, that are still to be handled. */
    unhandled(events: readonly EscrowEvent[], from: number, to: number): EscrowEvent[] {
      // Events before the lost one count again: an order whose end has vanished is open.
      if (hasLost(events, from, to)) known.clear()
      return events.filter(({ id }) => !known.has(id))
    },
    add(event: EscrowEvent) {
      known.set(event.id, event.position.block)
    },
    forgetBefore(block: number) {
      for (const [id, at] of known) if (at < block) known.delete(id)
    },
  }
}
