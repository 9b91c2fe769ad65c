/** A map that forgets the entry set longest ago when it is full. */
export function createRecentMap<K, V>(capacity: number): Pick<Map<K, V>, 'get' | 'has' | 'set' | 'delete'> {
  const entries = new Map<K, V>()
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      entries.delete(key)
      const oldest = entries.keys().next()
      if (entries.size >= capacity && !oldest.done) entries.delete(oldest.value)
      return entries.set(key, value)
    },
  }
}
