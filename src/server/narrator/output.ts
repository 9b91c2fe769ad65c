import { styleText } from 'node:util'
import { LRUCache } from 'lru-cache'
import { SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
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

/** Prints lines, and resolves when they are written, or soon after the signal when no reader takes them. */
export type Print = (lines: readonly NarrationLine[], signal: AbortSignal) => Promise<void>

/**
 * A full pipe cuts only longer writes in two (POSIX: PIPE_BUF, 4,096 on Linux and 512 at least). A log line on the same pipe could
 * get in between.
 */
const WRITE_LIMIT = 4_096
/** How long a stopping server waits for the reader of its lines. */
const GRACE_MS = 1_000

/**
 * Prints in the configured format, else in the one that suits the output. Whole lines are written, one write after the
 * other, so that a slow reader delays the narration alone, and no memory fills.
 */
export function createPrinter(
  output: NarratorOutput,
  { format, mayColour }: Pick<Config['narrator'], 'format' | 'mayColour'>,
): Print {
  const isText = format === 'text' || (format === 'auto' && output.isTTY === true)
  const hasColours = mayColour && output.isTTY === true && output.hasColors?.() === true
  const textOf = isText ? (line: NarrationLine) => textLine(line, hasColours) : jsonLine

  async function write(lines: readonly NarrationLine[]): Promise<void> {
    for (const text of parts(lines, textOf)) {
      await new Promise<void>((resolve) => output.write(text, resolve))
    }
  }

  return async (lines, signal) => {
    const written = new AbortController()
    await Promise.race([write(lines), graceAfter(signal, written.signal)])
    written.abort()
  }
}

/** The lines in as few texts as the limit allows, each made only when it is written. */
function* parts(lines: readonly NarrationLine[], textOf: (line: NarrationLine) => string): Generator<string> {
  let part = ''
  for (const each of lines) {
    const line = `${textOf(each)}\n`
    if (part !== '' && part.length + line.length > WRITE_LIMIT) {
      yield part
      part = ''
    }
    part += line
  }
  if (part !== '') yield part
}

/** Resolves a little after `signal` has aborted; stops waiting once `written` has. */
function graceAfter(signal: AbortSignal, written: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = () => {
      const timer = setTimeout(resolve, GRACE_MS)
      written.addEventListener('abort', () => clearTimeout(timer), { once: true })
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true, signal: written })
  })
}

/** Wide enough for the longest tag in its brackets, to align the words. */
const TAG_WIDTH = 10
/** Wide enough for the longest words that an amount or a version follows, retracted. */
const SAYS_WIDTH = 'retracted: portfolio updated'.length
/** Up to 9,999,999.00; a larger amount moves its own line only. */
const NUMBER_WIDTH = 14
const UNIT_WIDTH = 'shares'.length
const NO_AMOUNT = ''.padEnd(NUMBER_WIDTH + 1 + UNIT_WIDTH)

type Part = 'time' | 'tag' | 'retracted' | 'reset' | 'amount'
type Paint = (part: Part, text: string) => string

const STYLES = { time: 'dim', tag: 'cyan', retracted: 'yellow', reset: 'red', amount: 'bold' } as const

/** With the terminal's own colours, which `hasColors` has reported. */
const coloured: Paint = (part, text) => styleText(STYLES[part], text, { validateStream: false })
const plain: Paint = (_part, text) => text

/**
 * One line for a person: `2026-08-03T10:00:00Z   [escrow] order opened   1,000.00 USDC    deadline in 1 h`. Columns are
 * aligned; a deadline is counted from the line's own time, so that the line stays true.
 */
export function textLine(line: NarrationLine, hasColours: boolean): string {
  const paint = hasColours ? coloured : plain
  const start = (tag: string) =>
    `${paint('time', formatTime(line.time))} ${paint('tag', `[${tag}]`.padStart(TAG_WIDTH))} `
  if (line.kind === 'reset') {
    return start('chain') + paint('reset', 'reset: all earlier lines are void, the chain is narrated anew')
  }
  const { event, values } = line.narration
  const { tag, says } = wordsOf(event)
  const isRetracted = line.kind === 'retraction'
  const words = isRetracted ? `retracted: ${says}` : says
  const columns = columnsOf(values, line.time, paint)
  const cell = columns.length === 0 ? words : words.padEnd(SAYS_WIDTH)
  return start(tag) + [isRetracted ? paint('retracted', cell) : cell, ...columns].join('  ')
}

/** The columns of the amount and the other values; no line ends in blanks. */
function columnsOf(values: readonly Shown[], time: bigint, paint: Paint): string[] {
  const amount = values.find(({ name }) => name === 'amount')
  const others = values.filter((value) => value !== amount).map((value) => labelled(value, time))
  if (others.length === 0) return amount === undefined ? [] : [amountColumn(amount, paint, 0)]
  return [amount === undefined ? NO_AMOUNT : amountColumn(amount, paint, UNIT_WIDTH), ...others]
}

/** The number to the right, its unit to the left, so that points and units stand under one another. */
function amountColumn(amount: Shown, paint: Paint, unitWidth: number): string {
  const [number = '', unit = ''] = shownText(amount, 0n).split(' ')
  return `${paint('amount', number.padStart(NUMBER_WIDTH))} ${unit.padEnd(unitWidth)}`
}

function labelled(value: Shown, time: bigint): string {
  return `${value.name} ${shownText(value, time)}`
}

function shownText({ unit, value }: Shown, time: bigint): string {
  switch (unit) {
    case 'USDC':
      return formatUsdc(value)
    case 'shares':
      return formatShares(value)
    case 'time':
      return formatDistance(value, time)
    case 'count':
      return value.toString()
  }
}

/**
 * One line for a program: a JSON object with `time` (ISO 8601, UTC) and `kind` (`event`, `retraction`, `reset`). All but a reset
 * have `contract` (the tag) and `event`, and of these what the event has:
 * - `amount`, `payout`: decimal strings in base units, with `amountUnit` and `payoutUnit` (`USDC` or `shares`)
 * - `supply`: share base units, a decimal string
 * - `deadline`: ISO 8601
 * - `version`: a decimal string
 */
export function jsonLine(line: NarrationLine): string {
  const fields: Record<string, string> = { time: formatTime(line.time), kind: line.kind }
  if (line.kind === 'reset') return JSON.stringify(fields)
  const { event, values } = line.narration
  fields.contract = wordsOf(event).tag
  fields.event = event
  for (const { name, unit, value } of values) {
    fields[name] = unit === 'time' ? formatTime(value) : value.toString()
    if (name === 'amount' || name === 'payout') fields[`${name}Unit`] = unit
  }
  return JSON.stringify(fields)
}

/** Decimals of an amount of USDC that are always shown. */
const CENT_DECIMALS = 2
/** The last second that a `Date` can hold (ECMA-262, 21.4.1.1). */
const MAX_DATE_SECONDS = 8_640_000_000_000n

const SPANS = [
  { name: 'd', seconds: 86_400n },
  { name: 'h', seconds: 3_600n },
  { name: 'min', seconds: 60n },
  { name: 's', seconds: 1n },
]
/** An hour and some minutes, without seconds. */
const SPANS_SHOWN = 2

/** `1000000000n` is `1,000.00 USDC`; decimals below a cent are shown when there are any. */
export function formatUsdc(units: bigint): string {
  const [whole, fraction] = split(units, USDC_DECIMALS)
  const shown = fraction.replace(/0+$/, '').padEnd(CENT_DECIMALS, '0')
  return `${whole}.${shown} USDC`
}

/** `1500000000n` is `1.500000000 shares`. */
export function formatShares(units: bigint): string {
  return `${split(units, SHARE_DECIMALS).join('.')} shares`
}

/** Events share many times: their block's, and deadlines to the minute. */
const knownTimes = new LRUCache<bigint, string>({ max: 64 })

/** ISO 8601 in UTC, to the second. */
export function formatTime(seconds: bigint): string {
  const known = knownTimes.get(seconds)
  if (known !== undefined) return known
  const text = isoTime(seconds)
  knownTimes.set(seconds, text)
  return text
}

function isoTime(seconds: bigint): string {
  if (seconds > MAX_DATE_SECONDS) return `${seconds} s`
  return new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')
}

/** How far a time is from another, both in Unix seconds: `in 29 d 23 h`, `5 min ago`, `now`. */
export function formatDistance(time: bigint, from: bigint): string {
  if (time === from) return 'now'
  let rest = time > from ? time - from : from - time
  const parts = SPANS.map(({ name, seconds }) => {
    const count = rest / seconds
    rest %= seconds
    return { name, count }
  })
  const first = parts.findIndex(({ count }) => count > 0n)
  const shown = parts.slice(first, first + SPANS_SHOWN).filter(({ count }) => count > 0n)
  const text = shown.map(({ name, count }) => `${count} ${name}`).join(' ')
  return time > from ? `in ${text}` : `${text} ago`
}

const grouped = new Intl.NumberFormat('en-US')

/** The digits before the point, in groups of three, and those after it. */
function split(units: bigint, decimals: number): [whole: string, fraction: string] {
  const one = 10n ** BigInt(decimals)
  return [grouped.format(units / one), (units % one).toString().padStart(decimals, '0')]
}
