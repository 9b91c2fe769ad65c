import { z } from 'zod'
import { PRICE_DECIMALS, parseDecimal, type Rounding, SHARE_DECIMALS } from '../protocol/units.js'

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

/**
 * The shortest plain decimal text that reads back as the same JS number.
 *
 * `JSON.parse` makes a double of a snapshot's price. A decimal of up to 15 significant digits survives that unchanged (IEEE 754).
 * Prices have at most four decimal places, so the text is the one that the broker sent.
 * Only the notation may differ: below 1e-6 and from 1e21 on JavaScript writes an exponent, which is expanded here.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('expected a finite number')
  const text = String(value)
  const [mantissa = '', exponentText] = text.split('e')
  if (exponentText === undefined) return text
  const exponent = Number(exponentText)
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  const point = whole.length + exponent
  const sign = value < 0 ? '-' : ''
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0')}`
}

/**
 * A snapshot's price as USD with 6 decimals; absent, null and zero are all null: Alpaca sends zero for a
 * side of the book that has no quote.
 */
export function priceSchema(rounding: Rounding) {
  return z
    .number()
    .nonnegative()
    .nullish()
    .transform((value) => {
      const price = parseDecimal(numberText(value ?? 0), PRICE_DECIMALS, rounding)
      return price === 0n ? null : price
    })
}
