// Written by `npm run client-api` from client/receipt/index.d.ts: the public types, and all that they name.
// Exports:
//   Receipt
//   ReceiptFault
//   ReceiptOptions
//   ReceiptOrder
//   ReceiptVerdict
//   createReceipt
//   verifyReceipt

// attestation/nitro.d.ts
declare const REGISTER_MAPS: readonly ['pcrs', 'nitrotpm_pcrs'];
export type RegisterMap = (typeof REGISTER_MAPS)[number] | 'tdx';

// attestation/statement.d.ts
export interface CommonStatement {
    readonly v: 1;
    readonly origin: string;
    readonly signer?: Hex | undefined;
    readonly chainId: number;
    readonly authority: Hex;
    readonly escrow: Hex;
    readonly sealKey: Hex;
    readonly scheme: string;
    readonly configuration: Readonly<Record<string, string>>;
    readonly build: {
        readonly version: string;
        readonly digest: string;
    };
    readonly instance: string;
    readonly boot: number;
}
export interface Statement extends CommonStatement {
    readonly origin: 'born';
    readonly signer: Hex;
}

// attestation/verify.d.ts
export interface Verified<S extends CommonStatement = Statement> {
    readonly label: string;
    readonly map: RegisterMap;
    readonly measurement: Hex;
    readonly config: Hex;
    readonly statement: S;
    readonly issuedAt: number;
}

// client/evidence.d.ts
export interface Evidence {
    readonly verified: Verified;
    readonly next?: NextEnclave | undefined;
}
export interface NextEnclave {
    readonly signer: Hex;
    readonly effectiveAt: number;
    readonly measurement?: Hex | undefined;
    readonly verified?: Verified | undefined;
}

// client/http.d.ts
export interface CallOptions {
    readonly signal?: AbortSignal | undefined;
}

// client/platform.d.ts
export interface Platform extends PlatformContracts {
    readonly enclavePublicKey: Hex;
    readonly chainId: number;
    readonly takesOpenings: boolean;
    readonly evidence?: Evidence | undefined;
}
export interface PlatformContracts {
    readonly escrow: Hex;
    readonly usdc: Hex;
    readonly ledger: Hex;
    readonly registry: Hex;
    readonly token: Hex;
    readonly actions: Hex;
}

// client/provider.d.ts
export interface RequestSource {
    request(request: never): Promise<unknown>;
}

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

// protocol/orderTerms.d.ts
export declare const limitSchema: z.ZodMiniObject<{
    price: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    timeInForce: z.ZodMiniEnum<{
        DAY: "DAY";
        GTD: "GTD";
    }>;
}, z.core.$strict>;
export type Limit = z.output<typeof limitSchema>;
export type OrderAmount = {
    readonly usdc: bigint;
    readonly shares?: undefined;
} | {
    readonly shares: bigint;
    readonly usdc?: undefined;
};
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
