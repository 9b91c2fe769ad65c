import { afterEach, beforeEach, vi } from 'vitest'

/** Gives each test of a file an empty `localStorage`. */
export function useMemoryStorage(): void {
  beforeEach(() => {
    const items = new Map<string, string>()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
      removeItem: (key: string) => items.delete(key),
      clear: () => items.clear(),
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })
}
