// The subpath `store`: where a client keeps its orders.
export {
  createIndexedDbOrderStore,
  createMemoryOrderStore,
  decodeOrder,
  encodeOrder,
} from './browser.js'
export { createFileOrderStore } from './file.js'
