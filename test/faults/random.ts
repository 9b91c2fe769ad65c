export type Random = ReturnType<typeof createRandom>

/** Choices that depend on a seed alone. */
export function createRandom(seed: number) {
  const next = mulberry32(seed)
  /** A whole number, both ends included. */
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  function shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: next() }))
    return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
  }
  return {
    integer,
    chance: (probability: number) => next() < probability,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[integer(0, choices.length - 1)] ?? choices[0],
    shuffled,
    /** Deals so many: every kind once, in a chance order, then every kind once more. */
    deal<T>(kinds: readonly T[], count: number): T[] {
      const rounds = Math.ceil(count / kinds.length)
      return Array.from({ length: rounds }, () => shuffled(kinds))
        .flat()
        .slice(0, count)
    },
  }
}

/** By Tommy Ettinger, in the public domain: enough for choices, and the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
