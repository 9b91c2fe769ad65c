// Exact rationals, for shares and costs that splits divide.

/** A number that is not negative, in lowest terms. */
export interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

export const ZERO: Fraction = { over: 0n, under: 1n }
export const ONE: Fraction = { over: 1n, under: 1n }

/** @param under above zero */
export function fraction(over: bigint, under = 1n): Fraction {
  const common = divisorOf(over, under)
  return { over: over / common, under: under / common }
}

export function add(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.under + b.over * a.under, a.under * b.under)
}

export function subtract(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.under - b.over * a.under, a.under * b.under)
}

export function times(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.over, a.under * b.under)
}

/** @param b above zero */
export function over(a: Fraction, b: Fraction): Fraction {
  return fraction(a.over * b.under, a.under * b.over)
}

export function isLess(a: Fraction, b: Fraction): boolean {
  return a.over * b.under < b.over * a.under
}

/** Rounded down. */
export function floor({ over, under }: Fraction): bigint {
  return over / under
}

function divisorOf(a: bigint, b: bigint): bigint {
  let [large, small] = [a < 0n ? -a : a, b]
  while (small !== 0n) [large, small] = [small, large % small]
  return large
}
