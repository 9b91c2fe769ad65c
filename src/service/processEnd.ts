import { EXIT } from './exitCodes.js'
import { describeError, type Logger } from './logger.js'

/**
 * Resolves with the exit code once the process has to stop: 0 on SIGTERM or SIGINT, 1 after a failure that nothing caught, which
 * makes the state of the process unknown. A second signal ends the process at once.
 */
export function processEnd(logger: Logger): Promise<0 | 1> {
  const { promise, resolve } = Promise.withResolvers<0 | 1>()
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(EXIT.interrupted)
      isStopping = true
      logger.info('stop requested', { signal })
      resolve(EXIT.done)
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      // Node's own report would quote the failure's message.
      logger.error('uncaught failure', describeError(error))
      resolve(EXIT.failed)
    })
  }
  return promise
}
