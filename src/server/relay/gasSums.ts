import type { Hex } from '../../protocol/hex.js'

/**
 * Gas by holder, and the total, which includes the platform's.
 * @param onChange called with each holder whose gas has changed
 */
export function createSums(onChange: (holder: Hex) => void = () => undefined) {
  const by = new Map<Hex, bigint>()
  let all = 0n
  return {
    by,
    all: () => all,
    of: (holder: Hex) => by.get(holder) ?? 0n,
    add(holder: Hex | undefined, gas: bigint) {
      all += gas
      if (holder === undefined) return
      onChange(holder)
      const sum = (by.get(holder) ?? 0n) + gas
      if (sum === 0n) by.delete(holder)
      else by.set(holder, sum)
    },
    clear() {
      all = 0n
      by.clear()
    },
  }
}
