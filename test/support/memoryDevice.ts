import type { DeviceStore } from '../../web/state/browser.js'

/** A device's storage, for tests outside of a browser. */
export function createMemoryDevice(): DeviceStore & { readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>()
  return {
    kept,
    get: async (name) => kept.get(name) ?? null,
    async set(name, bytes) {
      kept.set(name, bytes)
    },
  }
}

/** A browser that forbids storage. */
export const NO_DEVICE: DeviceStore = {
  get: () => Promise.reject(new Error('forbidden')),
  set: () => Promise.reject(new Error('forbidden')),
}
