import { once } from '../chain/once.js'

/** Keeps bytes on this device, under names. Callers seal what is secret. */
export interface DeviceStore {
  get(name: string): Promise<Uint8Array | null>
  set(name: string, bytes: Uint8Array): Promise<void>
  /** Everything whose name begins like this. */
  all(prefix: string): Promise<readonly Uint8Array[]>
}

const [DATABASE, TABLE, VERSION] = ['desk-device', 'kept', 1]
/** Sorts behind every character of a name. */
const LAST = '\uffff'

/** A table of IndexedDB: `localStorage` holds about 5 MB, and open orders need it. */
export function createDeviceStore(): DeviceStore {
  const database = once(openDatabase)
  const table = async (mode: IDBTransactionMode) =>
    (await database()).transaction(TABLE, mode).objectStore(TABLE)
  return {
    async get(name) {
      const found: unknown = await answerOf((await table('readonly')).get(name))
      return found instanceof Uint8Array ? found : null
    },
    async set(name, bytes) {
      await answerOf((await table('readwrite')).put(bytes, name))
    },
    async all(prefix) {
      const range = IDBKeyRange.bound(prefix, prefix + LAST)
      const found: readonly unknown[] = await answerOf((await table('readonly')).getAll(range))
      return found.filter((one) => one instanceof Uint8Array)
    },
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION)
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE)
  return answerOf(request)
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
