import * as z from 'zod'
import { type Ratio, ratioOfText } from '../protocol/ratio.js'
import {
  PRICE_DECIMALS,
  parseDecimal,
  type Rounding,
  SHARE_DECIMALS,
  USDC_DECIMALS,
} from '../protocol/units.js'

/** Longer than any amount can be, short enough that a hostile text costs nothing. */
const DECIMAL_TEXT = /^-?\d{1,30}(?:\.\d{1,30})?$/

/** A decimal string as Alpaca writes quantities and money in orders, positions and accounts. */
export const decimalTextSchema = z.string().regex(DECIMAL_TEXT)

/** An average fill price: positive, in plain decimals. */
export const fillPriceSchema = decimalTextSchema.regex(/^(?!-)(?=.*[1-9])/)

/** A filled quantity in share base units. More than nine significant decimals can't be booked: refused, not rounded. */
export const exactSharesSchema = z
  .string()
  .regex(/^\d{1,20}(?:\.\d{1,9}0*)?$/)
  .transform((text) => parseDecimal(text, SHARE_DECIMALS))

/** Shares that came or went, in base units, as exact. */
export const signedSharesSchema = z
  .string()
  .regex(/^-?\d{1,20}(?:\.\d{1,9}0*)?$/)
  .transform((text) => parseDecimal(text, SHARE_DECIMALS))

/** Cash that came or went: USD with 6 decimals, as exact. */
export const signedUsdSchema = z
  .string()
  .regex(/^-?\d{1,20}(?:\.\d{1,6}0*)?$/)
  .transform((text) => parseDecimal(text, USDC_DECIMALS))

/** Below this, JavaScript writes a number with an exponent. */
const LEAST_PLAIN = 1e-6

/**
 * A snapshot's price as USD with 6 decimals; absent, null and zero are all null: Alpaca sends zero for a
 * side of the book that has no quote.
 *
 * `JSON.parse` makes a double of it. A decimal of up to 15 significant digits survives that unchanged (IEEE 754), and its shortest text is
 * the one that the broker sent: prices have at most four decimal places.
 */
export function priceSchema(rounding: Rounding) {
  return z
    .number()
    .nonnegative()
    .max(Number.MAX_SAFE_INTEGER)
    .nullish()
    .transform((value) => {
      const number = value ?? 0
      const text = number < LEAST_PLAIN ? number.toFixed(20) : String(number)
      const price = parseDecimal(text, PRICE_DECIMALS, rounding)
      return price === 0n ? null : price
    })
}

/**
 * A rate of a corporate action, exactly as its number was written: JSON's shortest text, of up to 15 significant digits. Null where it
 * is absent, not positive, or has more.
 */
export const rateSchema = z
  .number()
  .nullish()
  .catch(null)
  .transform((value): Ratio | null => (value == null ? null : ratioOfText(String(value))))
