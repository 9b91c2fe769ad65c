/** Choices that depend on a seed alone. */
export interface Random {
  /** A whole number, both ends included. */
  integer(from: number, to: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  shuffled<T>(items: readonly T[]): T[]
  /** Deals so many: every kind once, in a chance order, then every kind once more. */
  deal<T>(kinds: readonly T[], count: number): T[]
}

export function createRandom(seed: number): Random {
  const next = mulberry32(seed)
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  function shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: next() }))
    return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
  }
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[integer(0, choices.length - 1)] ?? choices[0],
    shuffled,
    deal(kinds, count) {
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
