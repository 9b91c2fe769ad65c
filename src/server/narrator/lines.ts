import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { CENT_DECIMALS, formatGrouped, SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import { type NarrationLine, type Shown, wordsOf } from './events.js'

/** The destination of the narration: standard output, or its stand-in. */
export interface NarratorOutput {
  /** Whether a person reads it. */
  readonly isTTY?: boolean
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

/**
 * Prints in the configured format, else in the one that suits the output. Whole lines are written, one write after the
 * other, so that a slow reader delays the narration alone, and no memory fills.
 *
 * @param graceMs how long a stopping server waits for the reader of its lines
 */
export function createPrinter(
  output: NarratorOutput,
  format: 'auto' | 'text' | 'json',
  graceMs = 1_000,
): Print {
  const isText = format === 'text' || (format === 'auto' && output.isTTY === true)
  const textOf = isText ? textLine : jsonLine

  async function write(lines: readonly NarrationLine[]): Promise<void> {
    let part = ''
    const flush = async () => {
      if (part !== '') await new Promise<void>((resolve) => output.write(part, resolve))
      part = ''
    }
    for (const each of lines) {
      const line = `${textOf(each)}\n`
      if (part.length + line.length > WRITE_LIMIT) await flush()
      part += line
    }
    await flush()
  }

  /** Resolves a little after `signal` has aborted, and rejects once `written` has. */
  async function graceAfter(signal: AbortSignal, written: AbortSignal): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort', { signal: written })
    await sleep(graceMs, undefined, { signal: written })
  }

  return async (lines, signal) => {
    const written = new AbortController()
    await Promise.race([write(lines), graceAfter(signal, written.signal)])
    written.abort()
  }
}

/**
 * One line for a person: `2026-08-03T10:00:00Z [escrow] order opened  1,000.00 USDC  deadline 2026-08-04T10:00:00Z`. Two spaces
 * stand between its parts.
 */
export function textLine(line: NarrationLine): string {
  const start = (tag: string) => `${formatTime(line.time)} [${tag}] `
  if (line.kind === 'reset') {
    return `${start('chain')}reset: all earlier lines are void, the chain is narrated anew`
  }
  const { tag, says } = wordsOf(line.narration.event)
  const values = line.narration.values.map(({ name, unit, value }) =>
    name === 'amount' ? TEXTS[unit](value) : `${name} ${TEXTS[unit](value)}`,
  )
  return start(tag) + [line.kind === 'retraction' ? `retracted: ${says}` : says, ...values].join('  ')
}

const TEXTS: Record<Shown['unit'], (value: bigint) => string> = {
  USDC: formatUsdc,
  shares: (units) => `${formatGrouped(units, SHARE_DECIMALS, SHARE_DECIMALS)} shares`,
  time: formatTime,
  count: String,
}

/**
 * One line for a program: a JSON object with `time` (ISO 8601, UTC) and `kind`. All but a reset have `contract` (the tag), `event`,
 * and the event's values as decimal strings in base units (a deadline as ISO 8601), with `amountUnit` and `payoutUnit`.
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

/** `1000000000n` is `1,000.00 USDC`; decimals below a cent are shown when there are any. */
export function formatUsdc(units: bigint): string {
  return `${formatGrouped(units, USDC_DECIMALS, CENT_DECIMALS)} USDC`
}

/** ISO 8601 in UTC, to the second. */
export function formatTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')
}
