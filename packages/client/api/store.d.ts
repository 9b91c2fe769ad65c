// Written by `npm run client-api` from client/store/index.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   createFileOrderStore
//   createFileStore
//   createIndexedDbOrderStore
//   createMemoryOrderStore
//   decodeOrder
//   encodeOrder

// client/orderStore.d.ts
export declare function createMemoryOrderStore(): OrderStore;

// client/store/file.d.ts
export declare function createFileOrderStore(directory: string): OrderStore;
export declare function createFileStore(directory: string): HistoryStore;

// client/store/indexedDb.d.ts
export declare function createIndexedDbOrderStore(name?: string): OrderStore;

// client/store/keptOrder.d.ts
export declare function decodeOrder(text: string): KeptOrder;
export declare function encodeOrder({ commit: _, ...order }: KeptOrder): string;
