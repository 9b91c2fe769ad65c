// Written by `npm run client-api` from client/operator.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   Change
//   Operator
//   OperatorOptions
//   PlannedChange
//   ProposedAction
//   RelayAccess
//   RelayReceipt
//   Role
//   SignerProgram
//   applyChange
//   createOperator
//   getRelayReceipt
//   planChange

// chain/actionList.d.ts
export interface ProposedAction {
    readonly kind: CorporateAction['kind'];
    readonly symbol: string;
    readonly recordAt: number;
    readonly numerator: bigint;
    readonly denominator: bigint;
    readonly entitlement: number;
    readonly successor: string;
}

// chain/signerProgram.d.ts
export interface SignerProgram {
    readonly measurement: Hex;
    readonly config: Hex;
}

// client/changes.d.ts
export interface PlannedChange {
    readonly text: string;
    readonly isInForce: boolean;
    send(): Promise<Mined>;
}
export type Change<K extends Kind = Kind> = {
    [P in K]: {
        readonly kind: P;
    } & Terms[P];
}[K];
export type Role = 'owner' | 'guardian' | 'signer';
interface Terms {
    listing: {
        readonly symbol: string;
        readonly isListed: boolean;
    };
    kyc: {
        readonly wallet: Hex;
        readonly isVerified: boolean;
    };
    freeze: {
        readonly symbol: string;
        readonly wallet: Hex;
        readonly isFrozen: boolean;
    };
    admission: {
        readonly orgId: Hex;
        readonly admin: Hex;
        readonly isAdmitted: boolean;
    };
    move: {
        readonly from: Hex;
        readonly to: Hex;
        readonly isApproved: boolean;
    };
    rotation: {
        readonly role: Role;
        readonly to: Hex | null;
        readonly program: SignerProgram | null;
    };
    pause: {
        readonly isPaused: boolean;
    };
    revocation: {
        readonly measurement: Hex;
    };
    treasury: {
        readonly usdc: bigint;
    };
    allowance: {
        readonly usdc: bigint;
    };
    fund: {
        readonly usdc: bigint;
    };
    action: {
        readonly action: ProposedAction;
    };
    actionWithdrawal: {
        readonly digest: Hex;
    };
}
type Kind = keyof Terms;

// client/operator.d.ts
export declare function applyChange(operator: Operator, change: Change, options?: CallOptions): Promise<Mined | null>;
export declare function createOperator(options: OperatorOptions): Operator;
export declare function getRelayReceipt({ token, ...options }: RelayAccess, digest: Hex, { signal }?: CallOptions): Promise<RelayReceipt>;
export declare function planChange(operator: Operator, change: Change, options?: CallOptions): Promise<PlannedChange>;
export interface OperatorOptions extends Pick<ClientOptions, 'wallet' | 'miningTimeoutMs'> {
    readonly escrow: Hex;
}
export interface RelayAccess extends Pick<ReaderOptions, 'serverUrl' | 'timeoutMs'> {
    readonly token: string;
}
export type Operator = Pick<Client, 'getAccount'>;
export type RelayReceipt = Receipt;

// protocol/relayReceipt.d.ts
export declare const receiptSchema: z.ZodMiniObject<{
    digest: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    primaryType: z.ZodMiniEnum<{
        ActionEnactment: "ActionEnactment";
        BatchBurn: "BatchBurn";
        BatchMint: "BatchMint";
        BuyOpening: "BuyOpening";
        OrderRefund: "OrderRefund";
        OrderSettlement: "OrderSettlement";
        PolicyUpdate: "PolicyUpdate";
        PortfolioMove: "PortfolioMove";
        PortfolioUpdate: "PortfolioUpdate";
        RequestOpening: "RequestOpening";
    }>;
    target: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    status: z.ZodMiniEnum<{
        confirmed: "confirmed";
        failed: "failed";
        pending: "pending";
        submitted: "submitted";
    }>;
    txHash: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
    blockNumber: z.ZodMiniNullable<z.ZodMiniInt>;
    gasUsed: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    createdAt: z.ZodMiniISODateTime;
    updatedAt: z.ZodMiniISODateTime;
    error: z.ZodMiniNullable<z.ZodMiniObject<{
        name: z.ZodMiniString<string>;
        args: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export type Receipt = z.output<typeof receiptSchema>;
import * as z from 'zod/mini';
