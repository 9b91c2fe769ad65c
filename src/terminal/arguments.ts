import { InvalidArgumentError } from 'commander'
import * as z from 'zod'
import { addressSchema } from '../protocol/address.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { parseDecimal } from '../protocol/units.js'

// The kinds of arguments. commander names the argument whose parser throws.

/** A parser of one argument, by a schema. */
export function parsedBy<T>(schema: z.core.$ZodType<T>) {
  return (text: string): T => {
    const { data, error } = z.safeParse(schema, text)
    if (error) throw new InvalidArgumentError(error.issues[0]?.message ?? 'is malformed')
    return data
  }
}

export const anAddress = parsedBy<Hex>(addressSchema)
/** The id of an order, or a digest. */
export const anId = parsedBy<Hex>(bytes32Schema)

/** The parser of an argument that may be repeated. */
export function several<T>(parse: (text: string) => T) {
  return (text: string, before: readonly T[] | undefined): readonly T[] => [...(before ?? []), parse(text)]
}

/** An institution's name. */
export function aName(text: string): string {
  try {
    nameToBytes32(text)
    return text
  } catch {
    throw new InvalidArgumentError('expected 1 to 31 printable ASCII characters')
  }
}

/** An amount above zero, in base units. */
export function anAmount(decimals: number) {
  return (text: string): bigint => {
    try {
      const amount = parseDecimal(text, decimals)
      if (amount > 0n) return amount
    } catch {
      // Falls through: one message for every malformed amount.
    }
    throw new InvalidArgumentError(
      `expected a number above zero with at most ${decimals} decimals, such as 250.50`,
    )
  }
}

const DURATION = /^([1-9]\d{0,6})([smhd])$/
const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
])

/** `90s`, `15m`, `24h`, `7d`; in seconds. */
export function aDuration(text: string): number {
  const [, amount = '', unit = ''] = DURATION.exec(text) ?? []
  const seconds = Number(amount) * (UNIT_SECONDS.get(unit) ?? 0)
  if (seconds > 0) return seconds
  throw new InvalidArgumentError('expected a duration such as 90s, 15m, 24h or 7d')
}
