/** An exact rational number, in lowest terms. Positive. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** @param denominator positive */
export function ratio(numerator: bigint, denominator: bigint): Ratio {
  const divisor = greatestDivisor(numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

/** Of a decimal text without a sign; null for anything else, and for 0. */
export function ratioOfText(text: string): Ratio | null {
  const [, whole = '', fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const digits = BigInt(whole + fraction)
  return digits === 0n ? null : ratio(digits, 10n ** BigInt(fraction.length))
}

/** `amount × ratio`, rounded down. */
export function scaled(amount: bigint, { numerator, denominator }: Ratio): bigint {
  return (amount * numerator) / denominator
}

export function quotient(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.denominator, a.denominator * b.numerator)
}

export function sumOf(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestDivisor(b, a % b)
}
