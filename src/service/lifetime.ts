import { setTimeout as sleep } from 'node:timers/promises'
import { describeError, type Logger } from './logger.js'

/** A part that starts and stops, such as a poller or the scheduler of enclave runs. */
export interface Service {
  readonly name: string
  /** Resolves once the part runs. */
  start(): Promise<void>
  /** Resolves once the part runs no longer. Called once, also after a `start` that failed. */
  stop(): Promise<void>
}

/** Several services as one. */
export function createLifetime(services: readonly Service[], logger: Logger) {
  const running: Service[] = []

  async function stop(): Promise<void> {
    for (let service = running.pop(); service !== undefined; service = running.pop()) {
      try {
        await service.stop()
      } catch (error) {
        logger.error('service did not stop', { service: service.name, ...describeError(error) })
      }
    }
  }

  return {
    /** In the reverse order. A failure is logged; the other services stop all the same. */
    stop,
    /** In the order given. When one fails, those that run are stopped and its error is thrown. */
    async start(): Promise<void> {
      try {
        for (const service of services) {
          running.push(service)
          await service.start()
        }
      } catch (error) {
        await stop()
        throw error
      }
    },
  }
}

/** A service that acts only when it starts or stops. */
export function createHook(name: string, { start, stop }: { start?(): unknown; stop?(): unknown }): Service {
  return {
    name,
    async start() {
      await start?.()
    },
    async stop() {
      await stop?.()
    },
  }
}

/**
 * One turn of a poller. A rejection is logged, and the next tick follows after the usual pause; after `again` it follows
 * immediately. `signal` aborts when the poller stops, which then waits for the tick to end.
 */
export type Tick = (signal: AbortSignal) => Promise<'again' | undefined>

/** A service that repeats one action from its start on, never two at a time. */
export function createPoller(options: {
  readonly name: string
  /** Pause between the end of one tick and the start of the next, asked for each time where it varies. */
  readonly intervalMs: number | (() => number)
  readonly tick: Tick | ((signal: AbortSignal) => Promise<void>)
  readonly logger: Logger
}): Service {
  const { name, intervalMs, tick, logger } = options
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
      const pauseMs = typeof intervalMs === 'number' ? intervalMs : intervalMs()
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
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
