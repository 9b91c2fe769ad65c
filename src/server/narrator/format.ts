import { SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'

/** Of an amount of USDC, the first two decimals are always shown. */
const CENT_DECIMALS = 2
/** Wide enough for the longest tag in its brackets, so that what happened stands in one column. */
const TAG_WIDTH = 10
/** The last second that a `Date` can hold (ECMA-262, 21.4.1.1). */
const MAX_DATE_SECONDS = 8_640_000_000_000n

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

/** ISO 8601 in UTC, to the second. */
export function formatTime(seconds: bigint): string {
  if (seconds > MAX_DATE_SECONDS) return `${seconds} s`
  return new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')
}

/** One line of the narration: `2026-08-03T10:00:00Z   [escrow] order opened  1,000.00 USDC  deadline …`. */
export function formatLine(line: {
  /** Unix seconds. */
  time: bigint
  tag: string
  says: string
  shows?: readonly string[]
}): string {
  const what = [line.says, ...(line.shows ?? [])].join('  ')
  return `${formatTime(line.time)} ${`[${line.tag}]`.padStart(TAG_WIDTH)} ${what}`
}

/** The digits before the point, in groups of three, and those after it. */
function split(units: bigint, decimals: number): [whole: string, fraction: string] {
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  return [whole, digits.slice(-decimals)]
}
