import type { Config } from '../config.js'
import { jsonLine } from './jsonLine.js'
import type { Told } from './narration.js'
import { textLine } from './textLine.js'

/** Where the narration goes: standard output, or what stands in for it. */
export interface NarratorOutput {
  /** Whether a person reads it. */
  readonly isTTY?: boolean
  /** By what the terminal says of itself. */
  hasColors?(): boolean
  /** `done` is called when it is written, or never will be. */
  write(text: string, done: () => void): unknown
}

/** Prints lines, and resolves when they are written, or soon after the signal when nobody reads them. */
export type Print = (told: readonly Told[], signal: AbortSignal) => Promise<void>

/**
 * What is written to a pipe that is full is cut in two only when it is longer (POSIX: PIPE_BUF, 4,096 on Linux and 512 at
 * least), and a line of the log could get in between when both go to the same one.
 */
const WRITE_LIMIT = 4_096
/** Time that lines get to be read after the server was told to stop. */
const GRACE_MS = 1_000

/**
 * In the format that is configured, else in the one that suits the output. Whole lines are written, one write after the
 * other, so that a slow reader holds up the narration alone, and no memory fills.
 */
export function createPrinter(
  output: NarratorOutput,
  { format, mayColour }: Pick<Config['narrator'], 'format' | 'mayColour'>,
): Print {
  const isText = format === 'text' || (format === 'auto' && output.isTTY === true)
  const hasColours = mayColour && output.isTTY === true && output.hasColors?.() === true
  const line = isText ? (told: Told) => textLine(told, hasColours) : jsonLine

  async function write(told: readonly Told[]): Promise<void> {
    for (const text of parts(told, line)) {
      await new Promise<void>((resolve) => output.write(text, resolve))
    }
  }

  return async (told, signal) => {
    const written = new AbortController()
    await Promise.race([write(told), graceAfter(signal, written.signal)])
    written.abort()
  }
}

/** The lines in as few texts as the limit allows, each made when its turn has come. */
function* parts(told: readonly Told[], lineOf: (told: Told) => string): Generator<string> {
  let part = ''
  for (const each of told) {
    const line = `${lineOf(each)}\n`
    if (part !== '' && part.length + line.length > WRITE_LIMIT) {
      yield part
      part = ''
    }
    part += line
  }
  if (part !== '') yield part
}

/** Resolves a little after `signal` has aborted; forgets about it once `settled` has. */
function graceAfter(signal: AbortSignal, settled: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => {
      const timer = setTimeout(resolve, GRACE_MS)
      settled.addEventListener('abort', () => clearTimeout(timer), { once: true })
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true, signal: settled })
  })
}
