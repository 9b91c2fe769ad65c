/** What `load` brings, for `maxAgeMs`: asked for once however many want it. A failure is not kept. */
export function createTimedValue<T>(maxAgeMs: number, load: () => Promise<T>): () => Promise<T> {
  let asked: { readonly at: number; readonly value: Promise<T> } | undefined
  return () => {
    if (asked === undefined || performance.now() - asked.at >= maxAgeMs) {
      const mine = { at: performance.now(), value: load() }
      asked = mine
      mine.value.catch(() => {
        if (asked === mine) asked = undefined
      })
    }
    return asked.value
  }
}
