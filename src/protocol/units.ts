import * as z from 'zod/mini'
import { ProtocolError } from './errors.js'

/** Decimal places of USDC amounts and of USD prices. */
export const USDC_DECIMALS = 6
export const PRICE_DECIMALS = 6
/** Decimals of an amount of USDC that is shown to people. */
export const CENT_DECIMALS = 2
/** Decimal places of share quantities. */
export const SHARE_DECIMALS = 9

/** One whole share and one USDC in base units. */
export const ONE_SHARE = 10n ** BigInt(SHARE_DECIMALS)
export const ONE_USDC = 10n ** BigInt(USDC_DECIMALS)
/** One cent in USDC base units: the broker's smallest notional step. */
export const ONE_CENT = ONE_USDC / 100n

/** Towards zero, away from zero, or an error if digits would be lost. */
export type Rounding = 'down' | 'up' | 'exact'

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/
const MAX_UINT256 = (1n << 256n) - 1n
const MAX_UINT64 = (1n << 64n) - 1n
const MAX_UINT8 = (1n << 8n) - 1n

/** `a / b` for positive integers, towards zero or away from it. */
export function divide(a: bigint, b: bigint, rounding: Rounding): bigint {
  const quotient = a / b
  if (a % b === 0n || rounding === 'down') return quotient
  if (rounding === 'exact')
    throw new ProtocolError('invalid-decimal', 'the value has more decimal places than its unit')
  return quotient + (a < 0n === b < 0n ? 1n : -1n)
}

/**
 * Base units of a plain decimal text: `parseDecimal('1.5', 6)` is `1_500_000n`.
 * @throws ProtocolError `invalid-decimal` for anything but digits with an optional sign and point, and for more decimals than
 *   `decimals` unless they are to be rounded
 * @example const usdc = parseDecimal('250.50', USDC_DECIMALS) // 250_500_000n
 */
export function parseDecimal(text: string, decimals: number, rounding: Rounding = 'exact'): bigint {
  const match = DECIMAL.exec(text)
  if (!match) throw new ProtocolError('invalid-decimal', 'expected a plain decimal number')
  const [, sign, whole = '0', fraction = ''] = match
  const digits = BigInt(whole + fraction)
  const scaled = digits * 10n ** BigInt(decimals)
  const units = divide(scaled, 10n ** BigInt(fraction.length), rounding)
  return sign === '-' ? -units : units
}

/**
 * Plain decimal text of base units, without trailing zeros: `formatDecimal(1_500_000n, 6)` is `'1.5'`.
 * @example const text = formatDecimal(250_500_000n, USDC_DECIMALS) // '250.5'
 */
export function formatDecimal(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`)
}

/**
 * Decimal text for people: with thousands separators.
 * @param least decimals that are shown even if they are zeros
 * @example const text = formatGrouped(1_250_500_000n, USDC_DECIMALS, 2) // '1,250.50'
 */
export function formatGrouped(units: bigint, decimals: number, least = 0): string {
  const [whole = '0', fraction = ''] = formatDecimal(units, decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const kept = fraction.padEnd(least, '0')
  return kept === '' ? grouped : `${grouped}.${kept}`
}

/** Share base units that `notional` (USDC base units) buys at `price` (USD, 6 decimals), rounded down. */
export function sharesFor(notional: bigint, price: bigint): bigint {
  return (notional * ONE_SHARE) / price
}

/** USDC base units that `qty` (share base units) is worth at `price` (USD, 6 decimals). */
export function notionalOf(qty: bigint, price: bigint, rounding: Rounding): bigint {
  return divide(qty * price, ONE_SHARE, rounding)
}

/** USDC base units rounded to whole cents, the broker's unit of cash. */
export function toCents(amount: bigint, rounding: 'up' | 'down'): bigint {
  return divide(amount, ONE_CENT, rounding) * ONE_CENT
}

function uintText(max: bigint) {
  const digits = max.toString().length
  const message = 'expected a decimal string of an unsigned integer'
  return z.codec(
    z.string().check(z.maxLength(digits, message), z.regex(/^(?:0|[1-9]\d*)$/, message)),
    z.bigint().check(z.minimum(0n), z.maximum(max)),
    { decode: (text) => BigInt(text), encode: (value) => value.toString() },
  )
}

// Marked as pure, so that a page that only formats amounts does not bundle zod.

/** An unsigned integer in base units: a decimal string on the wire, a `bigint` inside. */
export const uint256Schema = /* @__PURE__ */ uintText(MAX_UINT256)

/** An unsigned 64-bit integer, such as a version or a batch number; same form. */
export const uint64Schema = /* @__PURE__ */ uintText(MAX_UINT64)

/** An unsigned 8-bit integer, such as an order's state; same form. */
export const uint8Schema = /* @__PURE__ */ uintText(MAX_UINT8)

/** `1000000000n` is `1,000.00 USDC`; decimals below a cent are shown when there are any. */
export function formatUsdc(units: bigint): string {
  return `${formatGrouped(units, USDC_DECIMALS, CENT_DECIMALS)} USDC`
}
