/** Maps items as `Promise.all` does, but only so many of them side by side. */
export async function inBatches<T, R>(
  items: readonly T[],
  size: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const mapped: R[] = []
  for (let from = 0; from < items.length; from += size) {
    mapped.push(...(await Promise.all(items.slice(from, from + size).map(map))))
  }
  return mapped
}
