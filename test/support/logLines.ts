import { createLogger, type LogLevel } from '../../src/service/logger.js'

export type LogLines = ReturnType<typeof createLogLines>

/** A real logger whose lines stay in memory. */
export function createLogLines(level: LogLevel = 'debug') {
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
    /** Everything logged so far, as text. */
    text: () => text,
    /** The same, parsed line by line. */
    lines: (): Record<string, unknown>[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  }
}
