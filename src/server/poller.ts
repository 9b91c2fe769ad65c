import { setTimeout as sleep } from 'node:timers/promises'
import { describeError, type Logger } from '../service/logger.js'
import type { Service } from './lifetime.js'

/**
 * One look. A rejection is logged and the next tick comes as usual; after `again` it comes without a pause. `signal`
 * aborts when the poller stops, which then waits for the tick to end.
 */
export type Tick = (signal: AbortSignal) => Promise<'again' | undefined>

interface PollerOptions {
  readonly name: string
  /** Pause between the end of one tick and the start of the next. */
  readonly intervalMs: number
  readonly tick: Tick | ((signal: AbortSignal) => Promise<void>)
  readonly logger: Logger
}

/** A service that does one thing again and again, never twice at once; the first time at its start. */
export function createPoller({ name, intervalMs, tick, logger }: PollerOptions): Service {
  const stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const { signal } = stopping
    while (!signal.aborted) {
      try {
        if ((await tick(signal)) === 'again') continue
      } catch (error) {
        if (!signal.aborted) logger.warn('tick failed', { service: name, ...describeError(error) })
      }
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    }
  }

  return {
    name,
    async start() {
      running = run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
