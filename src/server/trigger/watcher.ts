import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../lifetime.js'
import { describeError, type Logger } from '../logger.js'
import type { RangeReader } from './blockRange.js'
import type { EscrowEvent, EscrowEvents } from './escrowEvents.js'
import { createAlarm } from './waiting.js'

/** Follows the escrow's events. */
export interface Watcher extends Service {
  /** Something has happened on the chain: look at once, not at the next interval. */
  poke(): void
}

export interface WatcherOptions {
  readonly events: EscrowEvents
  readonly ranges: RangeReader
  /** Pause between two looks. */
  readonly intervalMs: number
  /** Deals with all that the chain holds at the start; resolves with the block up to which it looked. Repeatable. */
  readonly recover: () => Promise<number>
  /** Deals with one event. When it rejects, the piece that it is in comes again. */
  readonly onEvent: (event: EscrowEvent) => Promise<void>
  readonly logger: Logger
}

/** However often it is poked. */
const LEAST_PAUSE_MS = 200

/** Looks first at what there is, then at what is new, never twice at once. A failed look is repeated. */
export function createWatcher(options: WatcherOptions): Watcher {
  const { events, ranges, intervalMs, recover, onEvent, logger } = options
  let stopping = false
  const alarm = createAlarm()
  let running: Promise<void> = Promise.resolve()
  /** The next block to look at; undefined until the start is dealt with. */
  let cursor: number | undefined

  async function look(): Promise<void> {
    cursor ??= (await recover()) + 1
    const head = await events.head()
    while (!stopping && cursor <= head) {
      const piece = await ranges.readPiece(cursor, head)
      if (piece === undefined) return
      for (const event of piece.events) await onEvent(event)
      cursor = piece.to + 1
    }
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
