import { setTimeout as sleep } from 'node:timers/promises'
import { describeError, type Logger } from '../../service/logger.js'
import { createAlarm } from '../async/waiting.js'
import type { Service } from '../lifetime.js'
import type { BlockId, EscrowEvent, EscrowEvents } from './escrowLogs.js'
import type { RangeReader } from './logRanges.js'
import { REREAD_BLOCKS } from './logRanges.js'

/** Follows the escrow's events. */
export interface EscrowPoller extends Service {
  /** Something has happened on the chain: look at once, not at the next interval. */
  poke(): void
}

export interface EscrowPollerOptions {
  readonly events: EscrowEvents
  readonly ranges: RangeReader
  /** Pause between two looks. */
  readonly intervalMs: number
  /** Deals with all that the chain holds at the start. Repeatable. */
  readonly recover: () => Promise<Recovered>
  /**
   * Deals with one event. When it rejects, it comes again. A reorganisation, too, may bring it again.
   * @param isPast the block was looked at before, so that what came after it may be known already
   */
  readonly onEvent: (event: EscrowEvent, isPast: boolean) => Promise<void>
  /** After each look that reached the chain's head. When it rejects, the look counts as failed. */
  readonly onLooked: () => Promise<void>
  readonly logger: Logger
}

/** What was dealt with at the start. */
export interface Recovered {
  /** The latest block that was looked at. */
  readonly block: BlockId
  /** Of the latest `REREAD_BLOCKS` blocks. */
  readonly events: readonly EscrowEvent[]
}

/** However often it is poked. */
const LEAST_PAUSE_MS = 200

/**
 * Looks first at what there is, then at what is new, never twice at once. A failed look is repeated. When the block that
 * was looked at last is no longer part of the chain, the look goes some blocks back: they may have been replaced too.
 */
export function createEscrowPoller(options: EscrowPollerOptions): EscrowPoller {
  const { events, ranges, intervalMs, recover, onEvent, onLooked, logger } = options
  const window = createEventWindow()
  let stopping = false
  const alarm = createAlarm()
  let running: Promise<void> = Promise.resolve()
  /** The last block that was dealt with, as it was then; undefined until the start is dealt with. */
  let last: BlockId | undefined

  async function start(): Promise<BlockId> {
    const { block, events: dealtWith } = await recover()
    for (const event of dealtWith) window.add(event)
    return block
  }

  async function look(): Promise<void> {
    last ??= await start()
    const newFrom = last.number + 1
    const head = await events.head()
    const rereadFrom = Math.max(0, Math.min(newFrom, head.number + 1) - REREAD_BLOCKS)
    window.forgetBefore(rereadFrom)
    let next = isBefore(head, last) ? rereadFrom : newFrom
    while (!stopping && next <= head.number) {
      const piece = await ranges.readPiece(next, head.number)
      if (piece === undefined) return
      const follows = next === last.number + 1
      if (follows && piece.parentHash !== null && piece.parentHash !== last.hash) {
        next = rereadFrom
        continue
      }
      for (const event of window.news(piece.events, next, piece.to)) {
        await onEvent(event, event.position.block < newFrom)
        window.add(event)
      }
      last = { number: piece.to, hash: piece.hash }
      next = piece.to + 1
    }
    if (!stopping) await onLooked()
  }

  async function run(): Promise<void> {
    let failing = false
    while (!stopping) {
      try {
        await look()
        if (failing) logger.info('escrow events read again')
        failing = false
      } catch (error) {
        // Told once per outage: it may last for hours.
        if (!failing && !stopping) logger.warn('escrow events not read', describeError(error))
        failing = true
      }
      await alarm.wait(intervalMs)
      if (!stopping) await sleep(LEAST_PAUSE_MS)
    }
  }

  return {
    name: 'watcher',
    poke: () => alarm.ring(),
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

/** Whether a head shows that the last block is not part of the chain any more, or that its node is behind. */
function isBefore(head: BlockId, last: BlockId): boolean {
  return head.number < last.number || (head.number === last.number && head.hash !== last.hash)
}

/** The latest events that were dealt with, so that reading them again starts nothing again. */
export interface EventWindow {
  /** The events of a range of blocks, both ends included, that are still to be dealt with. */
  news(events: readonly EscrowEvent[], from: number, to: number): EscrowEvent[]
  add(event: EscrowEvent): void
  /** Forgets what lies before this block. */
  forgetBefore(block: number): void
}

function createEventWindow(): EventWindow {
  /** Block numbers by the events' ids. */
  const known = new Map<string, number>()

  /** Whether an event that was dealt with is no longer on the chain. */
  function hasLost(events: readonly EscrowEvent[], from: number, to: number): boolean {
    const present = new Set(events.map(({ id }) => id))
    return [...known].some(([id, block]) => block >= from && block <= to && !present.has(id))
  }

  return {
    news(events, from, to) {
      // What came before the lost one may count again: an order whose end has vanished is open.
      if (hasLost(events, from, to)) known.clear()
      return events.filter(({ id }) => !known.has(id))
    },
    add(event) {
      known.set(event.id, event.position.block)
    },
    forgetBefore(block) {
      for (const [id, at] of known) if (at < block) known.delete(id)
    },
  }
}
