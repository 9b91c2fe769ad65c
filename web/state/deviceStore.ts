import { createStore, entries, get, set } from 'idb-keyval'

/** Keeps bytes on this device, under names. Callers seal what is secret. */
export interface DeviceStore {
  get(name: string): Promise<Uint8Array | null>
  set(name: string, bytes: Uint8Array): Promise<void>
  /** Everything whose name begins like this. */
  all(prefix: string): Promise<readonly Uint8Array[]>
}

/** A table of IndexedDB: `localStorage` holds about 5 MB, and open orders need it. Methods reject where the browser forbids it. */
export function createDeviceStore(): DeviceStore {
  const table = createStore('desk-device', 'kept')
  return {
    async get(name) {
      const found: unknown = await get(name, table)
      return found instanceof Uint8Array ? found : null
    },
    set: async (name, bytes) => set(name, bytes, table),
    async all(prefix) {
      const found = await entries<IDBValidKey, unknown>(table)
      return found.flatMap(([name, bytes]) =>
        String(name).startsWith(prefix) && bytes instanceof Uint8Array ? [bytes] : [],
      )
    },
  }
}
