// The subpath `store`: where a client keeps its orders, and in Node what else it keeps.
export {
  createIndexedDbOrderStore,
  createMemoryOrderStore,
  decodeOrder,
  encodeOrder,
} from './browser.js'
export { createFileOrderStore, createFileStore } from './file.js'
