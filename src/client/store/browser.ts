// The subpath `store` in a browser, where there are no files.
export { createMemoryOrderStore } from '../orderStore.js'
export { createIndexedDbOrderStore } from './indexedDb.js'
export { decodeOrder, encodeOrder } from './keptOrder.js'
