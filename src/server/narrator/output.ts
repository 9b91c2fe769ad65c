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
  write(text: string): unknown
}

/**
 * Prints lines in the format that is configured, else in the one that suits the output. The lines of one call are one
 * write, so that no line of the log gets in between, or into one of them, when both go to the same place.
 */
export function createPrinter(
  output: NarratorOutput,
  { format, mayColour }: Pick<Config['narrator'], 'format' | 'mayColour'>,
): (told: readonly Told[]) => void {
  const isText = format === 'text' || (format === 'auto' && output.isTTY === true)
  const hasColours = mayColour && output.isTTY === true && output.hasColors?.() === true
  const line = isText ? (told: Told) => textLine(told, hasColours) : jsonLine
  return (told) => {
    output.write(told.map((each) => `${line(each)}\n`).join(''))
  }
}
