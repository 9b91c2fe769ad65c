import type { OrderStore } from '../orderStore.js'
import { orderStoreOver } from './texts.js'

const [TABLE, VERSION] = ['orders', 1]

/**
 * Keeps orders in the browser, for every tab of the page's origin. Methods reject where the browser forbids storage; it may also
 * delete a site's data when its disk is full.
 * @param name of the database
 */
export function createIndexedDbOrderStore(name = 'confidential-trading-orders'): OrderStore {
  let opened: Promise<IDBDatabase> | undefined

  function open(): Promise<IDBDatabase> {
    const request = indexedDB.open(name, VERSION)
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE)
    return answerOf(request)
  }
  /** Another tab deletes the database, or the browser has closed it: the next call opens it again. */
  async function database(): Promise<IDBDatabase> {
    opened ??= open()
    const mine = opened
    const leave = () => {
      if (opened === mine) opened = undefined
    }
    try {
      const found = await mine
      found.onclose = leave
      found.onversionchange = () => {
        found.close()
        leave()
      }
      return found
    } catch (error) {
      leave()
      throw error
    }
  }
  async function run<T>(mode: IDBTransactionMode, ask: (table: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    // A browser may otherwise report a write before it is on the disk.
    const transaction = (await database()).transaction(TABLE, mode, { durability: 'strict' })
    const over = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error ?? new DOMException('aborted', 'AbortError'))
    })
    const [answer] = await Promise.all([answerOf(ask(transaction.objectStore(TABLE))), over])
    return answer
  }

  return orderStoreOver({
    async get(orderId) {
      const found = await run<unknown>('readonly', (table) => table.get(orderId))
      return typeof found === 'string' ? found : undefined
    },
    set: async (orderId, text) => void (await run('readwrite', (table) => table.put(text, orderId))),
    delete: (orderId) => run('readwrite', (table) => table.delete(orderId)),
    async all() {
      const found = await run<unknown[]>('readonly', (table) => table.getAll())
      return found.filter((text) => typeof text === 'string')
    },
  })
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
