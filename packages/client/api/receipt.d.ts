// Written by `npm run client-api` from client/receipt/index.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   Receipt
//   ReceiptFault
//   ReceiptOptions
//   ReceiptOrder
//   ReceiptVerdict
//   createReceipt
//   verifyReceipt

// client/receipt/createReceipt.d.ts
export declare function createReceipt({ orderId, envelope, contentKey }: Pick<SealedOrder, 'orderId' | 'envelope' | 'contentKey'>, { chainId, escrow }: Pick<Platform, 'chainId' | 'escrow'>): Receipt;

// client/receipt/moments.d.ts
export interface OrderMoments {
    readonly opened: OrderMoment | null;
    readonly ended: OrderMoment | null;
}
interface OrderMoment {
    readonly timestamp: number;
    readonly blockNumber: number;
    readonly txHash: Hex;
}

// client/receipt/verifyReceipt.d.ts
export declare function verifyReceipt(receipt: unknown, { node, escrow, signal }: ReceiptOptions): Promise<ReceiptVerdict>;
export interface ReceiptOptions extends CallOptions {
    readonly node: RequestSource;
    readonly escrow: Hex;
}
export type ReceiptFault = 'other-chain' | 'other-escrow' | 'unknown-order' | 'other-commit' | 'does-not-open' | 'other-order' | 'not-signed';
export type ReceiptOrder = ReceiptFacts & OrderAmount;
export type ReceiptVerdict = ({
    readonly outcome: 'verified';
    readonly order: ReceiptOrder;
} & OrderMoments) | {
    readonly outcome: 'not-verified';
    readonly code: ReceiptFault;
} | {
    readonly outcome: 'unreadable';
};
interface ReceiptFacts extends Pick<Intent, 'orderId' | 'account' | 'side' | 'symbol'> {
    readonly limit: Limit | null;
    readonly institution: string | null;
    readonly deadline: number;
    readonly state: 'OPEN' | 'SETTLED' | 'REFUNDED';
    readonly escrowed: bigint;
}

// protocol/orderTerms.d.ts
export type OrderAmount = {
    readonly usdc: bigint;
    readonly shares?: undefined;
} | {
    readonly shares: bigint;
    readonly usdc?: undefined;
};

// protocol/receipt.d.ts
export declare const receiptSchema: z.ZodMiniObject<{
    v: z.ZodMiniLiteral<1>;
    chainId: z.ZodMiniInt;
    escrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    iv: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    ct: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    tag: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    contentKey: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>;
export type Receipt = z.output<typeof receiptSchema>;
import * as z from 'zod/mini';
