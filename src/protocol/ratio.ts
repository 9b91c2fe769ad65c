// Exact rationals: for rates that a broker announces, and for shares and costs that splits divide.

/** In lowest terms. The denominator is above zero. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

export const ZERO: Ratio = { numerator: 0n, denominator: 1n }
export const ONE: Ratio = { numerator: 1n, denominator: 1n }

/** @param denominator above zero */
export function ratio(numerator: bigint, denominator = 1n): Ratio {
  const divisor = greatestDivisor(numerator, denominator)
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

/** Of a decimal text without a sign; null for anything else, and for 0. */
export function ratioOfText(text: string): Ratio | null {
  const [, whole = '', fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const digits = BigInt(whole + fraction)
  return digits === 0n ? null : ratio(digits, 10n ** BigInt(fraction.length))
}

export function add(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

export function subtract(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator)
}

export function times(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.numerator, a.denominator * b.denominator)
}

/** @param b above zero */
export function dividedBy(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.denominator, a.denominator * b.numerator)
}

export function isLess(a: Ratio, b: Ratio): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator
}

/** Rounded down, of one that is not negative. */
export function floor({ numerator, denominator }: Ratio): bigint {
  return numerator / denominator
}

/** `amount × ratio`, rounded down. */
export function scaled(amount: bigint, { numerator, denominator }: Ratio): bigint {
  return (amount * numerator) / denominator
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [large, small] = [a < 0n ? -a : a, b]
  while (small !== 0n) [large, small] = [small, large % small]
  return large
}
