import { createLogger, type Logger, type LogLevel } from '../../src/service/logger.js'

export interface LogLines {
  readonly logger: Logger
  /** Everything logged so far, as text. */
  text(): string
  /** The same, parsed line by line. */
  lines(): Record<string, unknown>[]
}

/** A real logger whose lines stay in memory. */
export function createLogLines(level: LogLevel = 'debug'): LogLines {
  let text = ''
  const logger = createLogger({
    level,
    destination: {
      write(line: string) {
        text += line
      },
    },
  })
  return {
    logger,
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  }
}
