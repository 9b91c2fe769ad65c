import { styleText } from 'node:util'
import { formatGrouped, formatUsdc, SHARE_DECIMALS } from '../../protocol/units.js'
import { untilAborted, withTimeout } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { type NarrationLine, type Shown, wordsOf } from './events.js'

/** The destination of the narration: standard output, or its stand-in. */
export interface NarratorOutput {
  /** Whether a person reads it. */
  readonly isTTY?: boolean
  /** Whether the terminal reports colours. */
  hasColors?(): boolean
  /** Calls `done` when the text is written, or cannot be written any more. */
  write(text: string, done: () => void): unknown
}

/** Prints lines, and resolves when they are written, or soon after the signal when no reader consumes them. */
export type Print = (lines: readonly NarrationLine[], signal: AbortSignal) => Promise<void>

/**
 * Prints in the configured format, else in the one that suits the output. Each line is one write, which a log line on the same pipe
 * cannot cut, after the write before it: a slow reader delays the narration alone, and no memory fills.
 *
 * @param graceMs how long a stopping server waits for the reader of its lines
 */
export function createPrinter(
  output: NarratorOutput,
  { format, mayColour }: Pick<Config['narrator'], 'format' | 'mayColour'>,
  graceMs = 1_000,
): Print {
  const isText = format === 'text' || (format === 'auto' && output.isTTY === true)
  const hasColours = mayColour && output.isTTY === true && output.hasColors?.() === true
  const textOf = (line: NarrationLine) => (isText ? textLine(line, hasColours) : jsonLine(line))

  async function write(lines: readonly NarrationLine[]): Promise<void> {
    for (const line of lines) await new Promise<void>((resolve) => output.write(`${textOf(line)}\n`, resolve))
  }

  return async (lines, signal) => {
    const written = write(lines)
    await untilAborted(written, signal)
    if (signal.aborted) await withTimeout(written, graceMs)
  }
}

/** Wide enough for the longest tag in its brackets, to align the words. */
const TAG_WIDTH = 10
/** Wide enough for the longest words that an amount or a version follows, retracted. */
const SAYS_WIDTH = 'retracted: portfolio updated'.length
/** The width of 9,999,999.00; a larger amount moves its own line only. */
const NUMBER_WIDTH = 14
const UNIT_WIDTH = 'shares'.length

/**
 * One line for a person: `2026-08-03T10:00:00Z   [escrow] order opened   1,000.00 USDC    deadline in 1 h`. Columns are
 * aligned; a deadline is counted from the line's own time, so that the line stays true.
 */
export function textLine(line: NarrationLine, hasColours: boolean): string {
  // The terminal's own colours, which `hasColors` has reported.
  const paint = (style: 'dim' | 'cyan' | 'yellow' | 'red' | 'bold', text: string) =>
    hasColours ? styleText(style, text, { validateStream: false }) : text
  const textOf = ({ unit, value }: Shown) => TEXTS[unit](value, line.time)
  const start = (tag: string) =>
    `${paint('dim', formatTime(line.time))} ${paint('cyan', `[${tag}]`.padStart(TAG_WIDTH))} `
  if (line.kind === 'reset') {
    return start('chain') + paint('red', 'reset: all earlier lines are void, the chain is narrated anew')
  }
  const { event, values, details = {} } = line.narration
  const { tag, says } = wordsOf(event)
  const isRetracted = line.kind === 'retraction'
  const words = isRetracted ? `retracted: ${says}` : says
  const cell = (isRetracted ? paint('yellow', words) : words) + ''.padEnd(SAYS_WIDTH - words.length)
  const amount = values.find(({ name }) => name === 'amount')
  const others = values.filter((value) => value !== amount)
  // Numbers end and units begin in one column, so that points and units stand under one another.
  const [number = '', unit = ''] = amount === undefined ? [] : textOf(amount).split(' ')
  const aligned = number.padStart(NUMBER_WIDTH)
  const column = `${amount === undefined ? aligned : paint('bold', aligned)} ${unit.padEnd(UNIT_WIDTH)}`
  const labelled = others.map((value) => `${value.name} ${textOf(value)}`)
  const named = Object.entries(details).map((detail) => detail.join(' '))
  return (start(tag) + [cell, column, ...labelled, ...named].join('  ')).trimEnd()
}

const TEXTS: Record<Shown['unit'], (value: bigint, time: bigint) => string> = {
  USDC: formatUsdc,
  shares: (units) => `${formatGrouped(units, SHARE_DECIMALS, SHARE_DECIMALS)} shares`,
  time: formatDistance,
  count: String,
}

/**
 * One line for a program: a JSON object with `time` (ISO 8601, UTC) and `kind`. All but a reset have `contract` (the tag), `event`,
 * and the event's values as decimal strings in base units (a deadline as ISO 8601), with `amountUnit` and `payoutUnit`.
 */
export function jsonLine(line: NarrationLine): string {
  const fields: Record<string, string> = { time: formatTime(line.time), kind: line.kind }
  if (line.kind === 'reset') return JSON.stringify(fields)
  const { event, values, details } = line.narration
  fields.contract = wordsOf(event).tag
  fields.event = event
  Object.assign(fields, details)
  for (const { name, unit, value } of values) {
    fields[name] = unit === 'time' ? formatTime(value) : value.toString()
    if (name === 'amount' || name === 'payout') fields[`${name}Unit`] = unit
  }
  return JSON.stringify(fields)
}

/** ISO 8601 in UTC, to the second. */
export function formatTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')
}

/** How far a time is from another, both in Unix seconds, in its two largest units: `in 29 d 23 h`, `5 min ago`, `now`. */
export function formatDistance(time: bigint, from: bigint): string {
  if (time === from) return 'now'
  const distance = time > from ? time - from : from - time
  const counts = [
    [distance / 86_400n, 'd'],
    [(distance / 3_600n) % 24n, 'h'],
    [(distance / 60n) % 60n, 'min'],
    [distance % 60n, 's'],
  ] as const
  const first = counts.findIndex(([count]) => count > 0n)
  const shown = counts.slice(first, first + 2).filter(([count]) => count > 0n)
  const text = shown.map((span) => span.join(' ')).join(' ')
  return time > from ? `in ${text}` : `${text} ago`
}
