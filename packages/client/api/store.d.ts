// Written by `npm run client-api` from client/store/index.d.ts: the public types, and all that they name.
// Exports:
//   createFileOrderStore
//   createFileStore
//   createIndexedDbOrderStore
//   createMemoryOrderStore
//   decodeOrder
//   encodeOrder

// client/keptLists.d.ts
export interface HistoryStore {
    get(name: string): Promise<Uint8Array | null | undefined>;
    set(name: string, bytes: Uint8Array): Promise<void>;
}

// client/orderStore.d.ts
export declare function createMemoryOrderStore(): OrderStore;
export interface KeptOrder extends SubmittableOrder {
    readonly chainId: number;
    readonly escrow: Hex;
    readonly account: Hex;
    readonly deadline: number;
}
export interface OrderStore {
    keep(order: KeptOrder): Promise<void>;
    find(orderId: Hex): Promise<KeptOrder | null>;
    list(): Promise<readonly KeptOrder[]>;
    forget(orderId: Hex): Promise<void>;
}

// client/sealedOrder.d.ts
export interface SealedOrder {
    readonly orderId: Hex;
    readonly intent: Intent;
    readonly envelope: Envelope;
    readonly contentKey: Hex;
    readonly commit: Hex;
    readonly escrowed: bigint;
    readonly opening?: PostedOpening | undefined;
}
export type SubmittableOrder = Pick<SealedOrder, 'orderId' | 'envelope' | 'commit' | 'opening'>;

// client/store/file.d.ts
export declare function createFileOrderStore(directory: string): OrderStore;
export declare function createFileStore(directory: string): HistoryStore;

// client/store/indexedDb.d.ts
export declare function createIndexedDbOrderStore(name?: string): OrderStore;

// client/store/keptOrder.d.ts
export declare function decodeOrder(text: string): KeptOrder;
export declare function encodeOrder({ commit: _, ...order }: KeptOrder): string;

// protocol/envelope.d.ts
export interface Envelope {
    epk: Hex;
    iv: Hex;
    ct: Hex;
    tag: Hex;
}

// protocol/hex.d.ts
export type Hex = `0x${string}`;

// protocol/intent.d.ts
export declare const intentSchema: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    account: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    symbol: z.ZodMiniString<string>;
    maxSpend: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    expiry: z.ZodMiniInt;
    nonce: z.ZodMiniInt;
    userPubKey: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    v: z.ZodMiniLiteral<1>;
    side: z.ZodMiniEnum<{
        BUY: "BUY";
        DEPOSIT: "DEPOSIT";
        SELL: "SELL";
        WITHDRAW: "WITHDRAW";
    }>;
    sig: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>, z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    account: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    symbol: z.ZodMiniString<string>;
    expiry: z.ZodMiniInt;
    nonce: z.ZodMiniInt;
    userPubKey: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    v: z.ZodMiniLiteral<2>;
    side: z.ZodMiniEnum<{
        BUY: "BUY";
        SELL: "SELL";
    }>;
    maxSpend: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    limitPrice: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    timeInForce: z.ZodMiniEnum<{
        DAY: "DAY";
        GTD: "GTD";
    }>;
    sig: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>], "v">;
export type Intent = z.output<typeof intentSchema>;
import * as z from 'zod/mini';

// protocol/postedOpening.d.ts
export declare const postedOpeningSchema: z.ZodMiniObject<{
    account: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    amount: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    deadline: z.ZodMiniInt;
    validBefore: z.ZodMiniInt;
    sig: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>;
export type PostedOpening = z.output<typeof postedOpeningSchema>;
import * as z from 'zod/mini';
