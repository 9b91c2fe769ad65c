import { CENT_DECIMALS, formatGrouped, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/protocol/units.js'

const SHOWN_SHARE_DECIMALS = 4
const [ETHER_DECIMALS, SHOWN_ETHER_DECIMALS] = [18, 6]
const BASIS_POINTS = 10_000n

/** `1234567000n` is `1,234.57`: rounded down, because a balance must not look larger than it is. */
export function money(units: bigint): string {
  return formatGrouped(units / 10n ** BigInt(USDC_DECIMALS - CENT_DECIMALS), CENT_DECIMALS, CENT_DECIMALS)
}

/** `4720543806n` is `4.7205`; without zeros at the end. */
export function shares(units: bigint): string {
  return formatGrouped(units / 10n ** BigInt(SHARE_DECIMALS - SHOWN_SHARE_DECIMALS), SHOWN_SHARE_DECIMALS)
}

/** `81250000000000000n` is `0.08125`. */
export function ether(wei: bigint): string {
  const units = wei / 10n ** BigInt(ETHER_DECIMALS - SHOWN_ETHER_DECIMALS)
  return formatGrouped(units, SHOWN_ETHER_DECIMALS, CENT_DECIMALS)
}

/** A gain, `+12.34`, or a loss, `−12.34`. */
export function gain(units: bigint): string {
  return units < 0n ? `−${money(-units)}` : `+${money(units)}`
}

/** A price's change since the previous day, `+1.25 %`; null if either price is unknown. */
export function dayChange(price: bigint | null, previousClose: bigint | null): string | null {
  if (price === null || previousClose === null || previousClose === 0n) return null
  const points = ((price - previousClose) * BASIS_POINTS) / previousClose
  const sign = points > 0n ? '+' : points < 0n ? '−' : ''
  const digits = (points < 0n ? -points : points).toString().padStart(3, '0')
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)} %`
}

/** `0xf39F…2266`. */
export function shortHex(hex: string): string {
  return `${hex.slice(0, 6)}…${hex.slice(-4)}`
}

/** `Mon`: the day of the week, of Unix milliseconds. */
export function dayName(at: number): string {
  return new Date(at).toLocaleDateString('en-GB', { weekday: 'short' })
}

const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const

/** The time of day; another day's with its date. */
export function timeOfDay(iso: string, now: Date): string {
  const time = new Date(iso)
  const clock = time.toLocaleTimeString('en-GB')
  return time.toDateString() === now.toDateString()
    ? clock
    : `${time.toLocaleDateString('en-GB', DATE)}, ${clock}`
}

/** `3 Sep 2026`, of Unix seconds. */
export function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleDateString('en-GB', DATE)
}

const NUMBER = /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/

/**
 * A typed number without its thousands separators; null if it is not one. A comma elsewhere may be a decimal point:
 * `99,50` must not become 9950.
 */
export function plainNumber(text: string): string | null {
  const typed = text.trim()
  return NUMBER.test(typed) ? typed.replaceAll(',', '') : null
}
