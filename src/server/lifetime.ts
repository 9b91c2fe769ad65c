import { describeError, type Logger } from '../service/logger.js'

/** A part with a life of its own, such as a poller or the dispatcher of enclave runs. */
export interface Service {
  readonly name: string
  /** Resolves once it runs; what it then does goes on by itself. */
  start(): Promise<void>
  /** Resolves once nothing of it runs any more. Called once, also after a `start` that failed. */
  stop(): Promise<void>
}

/** Several services as one. */
export interface Lifetime {
  /** In the order given. When one fails, those that run are stopped and its error is thrown. */
  start(): Promise<void>
  /** In the reverse order; a failure is logged and holds up none of the others. */
  stop(): Promise<void>
}

export function createLifetime(services: readonly Service[], logger: Logger): Lifetime {
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
    stop,
    async start() {
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
