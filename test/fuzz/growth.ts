import type { Held } from './programs.js'

/**
 * How much more may be held at the end than after the first round, in which everything is loaded. Descriptors: the server keeps as many idle
 * connections to its node as it once needed at the same time. On a busy machine that is more in a later round.
 */
const BOUNDS = { handles: 6, descriptors: 24 }
/**
 * The growth that the heap in use may have from the third quarter of the rounds to the last: bytes in all, because two readings of the same
 * server differ, and bytes for each exchange between. By then a server has all that it keeps. The fewer exchanges, the larger a leak must be.
 */
const LATE_GROWTH = { bytes: 2 ** 20, each: 2 }

/** Figures with excess growth. @param exchanges in all rounds, as many in each */
export function growthOf(held: readonly Held[], exchanges: number): string[] {
  const names = ['handles', 'descriptors'] as const
  const grown = names.flatMap((name) => {
    const more = (held.at(-1)?.[name] ?? Number.NaN) - (held[0]?.[name] ?? Number.NaN)
    return more <= BOUNDS[name] ? [] : [`${name} has grown by ${more}`]
  })
  // The least of several readings counts, because any one may come before a collection.
  const half = held.slice(Math.ceil(held.length / 2)).map(({ heapUsed }) => heapUsed)
  const quarter = Math.floor(half.length / 2)
  const more = Math.min(...half.slice(-quarter)) - Math.min(...half.slice(0, quarter))
  const between = (exchanges * (half.length - quarter)) / held.length
  const isLate = more > LATE_GROWTH.bytes + LATE_GROWTH.each * between
  return [...grown, ...(isLate ? [`heapUsed still grows in the second half: by ${more}`] : [])]
}
