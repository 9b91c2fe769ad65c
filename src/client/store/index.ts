// The subpath `store`: where a client keeps its orders.
export {
  createIndexedDbOrderStore,
  createMemoryOrderStore,
  decodeOrder,
  encodeOrder,
  type KeptOrder,
  type OrderStore,
} from './browser.js'
export { createFileOrderStore } from './file.js'
