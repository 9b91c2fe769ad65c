// Written by `npm run client-api` from client/admin.d.ts: the public types, and all that they name.
// Exports:
//   AlikeChanges
//   EmployeeFile
//   EmployeeRow
//   KeptOptions
//   MAX_NAME
//   Member
//   MemberList
//   MemberListOptions
//   MembershipEvent
//   Nameable
//   PartsOnChain
//   PublishOptions
//   PublishStep
//   PublishedRulebook
//   RowFault
//   RulebookChange
//   RulebookCopy
//   alikeChanges
//   exceptionsOf
//   forgetPublication
//   getKeptPublication
//   getRulebookCopy
//   getRulebookVersion
//   isName
//   listMembers
//   memberRules
//   openRulebookCopy
//   publishRulebook
//   readEmployeeFile
//   resumePublication
//   rulebookChanges
//   rulesOfRows

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

// chain/logReader.d.ts
export interface BlockId {
    readonly number: number;
    readonly hash: Hex;
}
export interface BlockRange {
    readonly from: number;
    readonly to: number;
}

// client/admin.d.ts
export declare function forgetPublication(client: Client, options: KeptOptions): Promise<void>;
export declare function getKeptPublication(client: Client, options: KeptOptions): Promise<number | null>;
export declare function getRulebookCopy(client: Client, of: PolicyVersion, options: KeptOptions): Promise<RulebookCopy | null>;
export declare function getRulebookVersion(client: Client, options?: CallOptions): Promise<PolicyVersion>;
export declare function listMembers(client: Client, orgId: Hex, options?: MemberListOptions): AsyncGenerator<MemberList, void, undefined>;
export declare function openRulebookCopy(client: Client, copy: unknown, version: number, options?: Partial<KeptOptions>): Promise<Policy>;
export declare function publishRulebook(client: Client, policy: Policy, options?: PublishOptions): Promise<PublishedRulebook>;
export declare function resumePublication(client: Client, options: KeptOptions & Pick<PublishOptions, 'onProgress'>): Promise<PublishedRulebook | null>;
export interface KeptOptions extends CallOptions {
    readonly store: HistoryStore;
}

// client/claims.d.ts
export interface Claim {
    readonly asset: string;
    readonly amount: bigint;
    readonly recipient: Hex | null;
}
export interface ClaimOptions extends CallOptions {
    readonly to?: Hex | undefined;
}
export interface ClaimsOptions extends CallOptions {
    readonly others?: readonly string[] | undefined;
}

// client/client.d.ts
export interface Client extends Reader, Membership, Moves, OrderKeeping {
    getAccount(options?: CallOptions): Promise<Hex>;
    getPlatform(options?: CallOptions): Promise<Platform>;
    challengeEnclave(options?: CallOptions): Promise<Verified>;
    unlock(options?: CallOptions): Promise<PortfolioKey>;
    lock(): void;
    drawKey(options?: CallOptions): Promise<string>;
    importKeys(text: string, options?: CallOptions): Promise<void>;
    placeOrder(request: OrderRequest, options?: PlaceOptions): Promise<PlacedOrder>;
    plan(request: OrderRequest, options?: PlanOptions): Promise<readonly Prompt[]>;
    submitOrder(order: SubmittableOrder, options?: CallOptions): Promise<OrderReceived>;
    canSponsor(options?: CallOptions): Promise<boolean>;
    getOpeningState(order: SignedOrder, options?: CallOptions): Promise<OpeningState>;
    openOrder(order: SubmittableOrder & SignedOrder, options?: CallOptions): Promise<OrderReceived>;
    cancelOrder(orderId: Hex, options?: CallOptions): Promise<OrderReceived>;
    reclaimOrder(orderId: Hex, options?: CallOptions): Promise<Mined>;
    getFunds(options?: CallOptions): Promise<Funds>;
    setAllowance(usdc: bigint, options?: CallOptions): Promise<Mined>;
    getShares(options?: SharesOptions): Promise<readonly WalletShares[]>;
    getClaims(options?: ClaimsOptions): Promise<readonly Claim[]>;
    claim(asset: string, options?: ClaimOptions): Promise<Mined>;
    openNotice(status: Pick<OrderStatus, 'orderId' | 'notice'>, options?: CallOptions): Promise<Notice | null>;
    getPortfolio(options?: CallOptions): Promise<OpenedPortfolio | null>;
    sealForDevice(purpose: string, value: unknown, options?: CallOptions): Promise<Uint8Array>;
    openFromDevice(purpose: string, bytes: Uint8Array, options?: CallOptions): Promise<unknown>;
}

// client/contract.d.ts
export interface Mined {
    readonly txHash: Hex;
    readonly blockNumber: number;
}

// client/employeeFile.d.ts
export declare const MAX_NAME = 60;
export declare function isName(text: string): boolean;
export declare function readEmployeeFile(text: string, nameable: Nameable, { signal }?: CallOptions): Promise<EmployeeFile>;
export interface EmployeeFile {
    readonly rows: readonly EmployeeRow[];
    readonly faults: readonly RowFault[];
}
export interface EmployeeRow {
    readonly address: Hex;
    readonly name?: string;
    readonly canBuy?: boolean;
    readonly canSell?: boolean;
    readonly restricted?: readonly string[];
    readonly group?: string;
}
export interface Nameable {
    readonly symbols: readonly string[];
    readonly groups: readonly string[];
}
export interface RowFault {
    readonly line: number | null;
    readonly reason: string;
}

// client/employeeRules.d.ts
export declare function exceptionsOf(policy: Policy): Policy;
export declare function rulesOfRows(rows: readonly EmployeeRow[], policy: Pick<Policy, 'employees' | 'groups' | 'default'>): Policy['employees'];

// client/errors.d.ts
export declare abstract class TradingError extends Error {
    readonly code: string;
    readonly retryable: boolean;
    readonly requestId: string | null;
    readonly docs: string;
    constructor(message: string, { code, retryable, requestId, docs, ...options }: Details);
}
interface Details extends ErrorOptions {
    readonly code: string;
    readonly retryable: boolean;
    readonly requestId?: string | null;
    readonly docs: string;
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

// client/funds.d.ts
export interface Funds {
    readonly balance: bigint;
    readonly allowance: bigint;
}

// client/http.d.ts
export interface CallOptions {
    readonly signal?: AbortSignal | undefined;
}

// client/keptLists.d.ts
export interface BlockPlace {
    readonly blockNumber: number;
    readonly logIndex: number;
}
export interface HistoryStore {
    get(name: string): Promise<Uint8Array | null | undefined>;
    set(name: string, bytes: Uint8Array): Promise<void>;
}
export interface ReadList {
    readonly read: BlockRange | null;
    readonly span: BlockRange;
    readonly checkpoint: BlockId | null;
    readonly isComplete: boolean;
}

// client/keptOrders.d.ts
export interface OrderKeeping {
    getKeptOrders(options?: CallOptions): Promise<readonly KeptOrder[]>;
    resumeOrder(orderId: Hex, options?: ResumeOptions): Promise<Resumed>;
}
export interface ResumeOptions extends CallOptions {
    readonly sendSigned?: boolean | undefined;
}
export type Resumed = 'ended' | 'void' | 'submitted' | 'signed' | 'unopened';

// client/logList.d.ts
export interface ListOptions<L extends ReadList> extends CallOptions {
    readonly fromBlock?: number | undefined;
    readonly limit?: number | undefined;
    readonly resume?: L | undefined;
    readonly store?: HistoryStore | undefined;
    readonly maxBlocks?: number | undefined;
}

// client/members.d.ts
export interface Member {
    readonly account: Hex;
    readonly state: 'member' | 'leaving' | 'invited' | 'former';
    readonly changedAt: number;
}
export interface MemberList extends ReadList {
    readonly admin: Hex;
    readonly members: readonly Member[];
    readonly events: readonly MembershipEvent[];
}
export interface MembershipEvent extends BlockPlace {
    readonly account: Hex;
    readonly isActive: boolean;
}
export type MemberListOptions = Omit<ListOptions<MemberList>, 'limit'>;

// client/membership.d.ts
export interface Membership {
    foundInstitution(name: string, options?: CallOptions): Promise<Mined>;
    joinInstitution(orgId: Hex, options?: CallOptions): Promise<Mined>;
    leaveInstitution(options?: CallOptions): Promise<Mined>;
    getLeavingAt(options?: CallOptions): Promise<number | null>;
    inviteMember(wallet: Hex, options?: CallOptions): Promise<Mined>;
    removeMember(wallet: Hex, options?: CallOptions): Promise<Mined>;
}

// client/moves.d.ts
export interface AccountMove {
    readonly orgId: Hex;
    readonly to: Hex;
    readonly isAccepted: boolean;
    readonly effectiveAt: number | null;
}
export interface MoveOptions extends CallOptions {
    readonly from?: Hex | undefined;
}
export interface Moves {
    getMove(options?: MoveOptions): Promise<AccountMove | null>;
    proposeMove(from: Hex, to: Hex, options?: CallOptions): Promise<Mined>;
    acceptMove(from: Hex, options?: CallOptions): Promise<Mined>;
    withdrawMove(options?: MoveOptions): Promise<Mined>;
}

// client/openings.d.ts
export type OpeningState = 'open' | 'taken' | 'usable' | 'expired';

// client/orderIntent.d.ts
export interface BuyTerms {
    readonly side: 'BUY';
    readonly symbol: string;
    readonly usdc: bigint;
    readonly shares?: undefined;
    readonly payFrom?: 'wallet' | 'cash' | undefined;
    readonly limit?: Limit | undefined;
}
export interface CashMoveTerms {
    readonly side: 'WITHDRAW' | 'DEPOSIT';
    readonly symbol?: undefined;
    readonly usdc: bigint;
    readonly shares?: undefined;
    readonly payFrom?: undefined;
    readonly limit?: undefined;
}
export interface SellTerms {
    readonly side: 'SELL';
    readonly symbol: string;
    readonly usdc: bigint;
    readonly shares?: undefined;
    readonly payFrom?: undefined;
    readonly limit?: Limit | undefined;
}
export interface ShareMoveTerms {
    readonly side: 'WITHDRAW' | 'DEPOSIT';
    readonly symbol: string;
    readonly shares: bigint;
    readonly usdc?: undefined;
    readonly payFrom?: undefined;
    readonly limit?: undefined;
}
export type Duration = `${number}${'m' | 'h' | 'd'}`;
export type OrderRequest = OrderTerms & OrderTime;
export type OrderTerms = BuyTerms | SellTerms | ShareMoveTerms | CashMoveTerms;
export type OrderTime = 
{
    readonly validFor?: Duration | undefined;
    readonly deadline?: undefined;
}
 | {
    readonly deadline: number | undefined;
    readonly validFor?: undefined;
};

// client/orderStore.d.ts
export interface KeptOrder extends SubmittableOrder {
    readonly chainId: number;
    readonly escrow: Hex;
    readonly account: Hex;
    readonly deadline: number;
}

// client/orders.d.ts
export interface Orders {
    getOrder(orderId: Hex, options?: CallOptions): Promise<OrderStatus>;
    watchOrder(orderId: Hex, options: WatchOptions): () => void;
    listOrderStatuses(orderId: Hex, options?: FollowOptions): AsyncGenerator<OrderStatus, void, undefined>;
    getOrderTimeline(orderId: Hex, options?: CallOptions): Promise<Timeline>;
    listOrderTimelines(orderId: Hex, options?: FollowOptions): AsyncGenerator<Timeline, void, undefined>;
}

// client/placeOrder.d.ts
export interface PlaceOptions extends CallOptions {
    readonly sponsored?: boolean | undefined;
    readonly approve?: bigint | undefined;
    readonly beforeOpen?: ((order: SealedOrder) => void | Promise<void>) | undefined;
    readonly onStep?: ((step: PlaceStep) => void) | undefined;
    readonly onIdTaken?: ((taken: TakenId) => void) | undefined;
}
export interface PlacedOrder {
    readonly order: SealedOrder;
    readonly opened: Mined;
    readonly received: OrderReceived;
}
export interface TakenId {
    readonly orderId: Hex;
    readonly by: Hex;
    readonly times: number;
}
export type PlanOptions = Pick<PlaceOptions, 'sponsored' | 'approve' | 'signal'>;

// client/plan.d.ts
export interface Prompt {
    readonly step: Exclude<PlaceStep, 'submitting'>;
    readonly kind: 'signature' | 'transaction' | 'batch';
    readonly why: string;
}
export type PlaceStep = 'unlocking' | 'signing' | 'authorizing' | 'approving' | 'opening' | 'submitting';

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

// client/poll.d.ts
export interface FollowOptions extends CallOptions {
    readonly pollMs?: number | undefined;
}
export interface WatchOptions extends FollowOptions {
    readonly onStatus: (status: OrderStatus) => void;
    readonly onError: (error: TradingError) => void;
}

// client/portfolio.d.ts
export interface OpenedPortfolio {
    readonly portfolio: Portfolio;
    readonly uncounted: readonly CorporateAction[];
    readonly version: bigint;
    readonly blockNumber: number;
}

// client/portfolioKey.d.ts
export interface PortfolioKey {
    readonly privateKey: Bytes;
    readonly publicKey: Hex;
    readonly drawnAt: number;
    readonly portfolioVersion: bigint;
}

// client/reader.d.ts
export interface Reader extends Orders {
    getWallet(address: Hex, options?: CallOptions): Promise<WalletView>;
    getInstitution(orgId: Hex, options?: CallOptions): Promise<InstitutionView>;
    getCompliance(address: Hex, options?: CallOptions): Promise<ComplianceView>;
    getMarket(options?: CallOptions): Promise<MarketView>;
    getMarketBars(options?: CallOptions): Promise<MarketBars>;
    getMarketClock(options?: CallOptions): Promise<MarketClock>;
    getHealth(options?: CallOptions): Promise<Health>;
    getHealthChecks(options?: CallOptions): Promise<HealthChecks>;
    getEnclaveKey(options?: CallOptions): Promise<EnclaveKey>;
    getPolicyVersion(orgId: Hex, options?: CallOptions): Promise<PolicyVersion>;
}

// client/rulebook.d.ts
export interface PublishOptions extends CallOptions {
    readonly base?: number | undefined;
    readonly store?: HistoryStore | undefined;
    readonly onStep?: ((step: PublishStep) => void) | undefined;
    readonly onProgress?: ((progress: PartsOnChain) => void) | undefined;
}
export interface PublishedRulebook extends PolicyVersion {
    readonly copy: RulebookCopy | null;
}
export type PublishStep = 'signing' | 'resuming';

// client/rulebookChanges.d.ts
export declare function alikeChanges(changes: readonly RulebookChange[]): readonly AlikeChanges[];
export declare function rulebookChanges(before: Policy | null, after: Policy, { signal }?: CallOptions): Promise<readonly RulebookChange[]>;
export interface AlikeChanges extends Omit<RulebookChange, 'employee'> {
    readonly employees: readonly Hex[];
}
export interface RulebookChange {
    readonly effect: 'added' | 'lifted' | 'tightened';
    readonly employee: Hex | null;
    readonly text: string;
}

// client/rulebookParts.d.ts
export interface PartsOnChain {
    readonly written: number;
    readonly parts: number;
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
export type SignedOrder = Pick<SealedOrder, 'orderId' | 'commit'> & {
    readonly opening: PostedOpening;
};
export type SubmittableOrder = Pick<SealedOrder, 'orderId' | 'envelope' | 'commit' | 'opening'>;

// client/shares.d.ts
export interface SharesOptions extends CallOptions {
    readonly others?: readonly string[] | undefined;
}
export interface WalletShares {
    readonly symbol: string;
    readonly token: Hex;
    readonly balance: bigint;
}

// protocol/api.d.ts
export declare const complianceSchema: z.ZodMiniObject<{
    address: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    equities: z.ZodMiniArray<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        kyc: z.ZodMiniBoolean<boolean>;
        listed: z.ZodMiniBoolean<boolean>;
        frozen: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export declare const healthChecksSchema: z.ZodMiniObject<{
    asOf: z.ZodMiniISODateTime;
    status: z.ZodMiniEnum<{
        degraded: "degraded";
        healthy: "healthy";
        unhealthy: "unhealthy";
    }>;
    checks: z.ZodMiniArray<z.ZodMiniObject<{
        name: z.ZodMiniString<string>;
        status: z.ZodMiniEnum<{
            degraded: "degraded";
            healthy: "healthy";
            unhealthy: "unhealthy";
        }>;
        reason: z.ZodMiniNullable<z.ZodMiniString<string>>;
    }, z.core.$strip>>;
    relayer: z.ZodMiniNullable<z.ZodMiniObject<{
        address: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        balance: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>>;
    minBalance: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    gas: z.ZodMiniObject<{
        limit: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        remaining: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        reserve: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        reserveRemaining: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>;
}, z.core.$strip>;
export declare const healthSchema: z.ZodMiniObject<{
    status: z.ZodMiniLiteral<"ok">;
    version: z.ZodMiniString<string>;
    chainId: z.ZodMiniInt;
    contracts: z.ZodMiniObject<{
        institutionRegistry: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        orderEscrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        confidentialLedger: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        equityToken: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        platformPool: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strip>;
    symbols: z.ZodMiniArray<z.ZodMiniString<string>>;
    relayer: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    mode: z.ZodMiniOptional<z.ZodMiniEnum<{
        attested: "attested";
        "file-keys": "file-keys";
        "keys-awaited": "keys-awaited";
        test: "test";
    }>>;
}, z.core.$strip>;
export declare const institutionSchema: z.ZodMiniObject<{
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    name: z.ZodMiniNullable<z.ZodMiniString<string>>;
    admin: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    walletCount: z.ZodMiniInt;
    rulesVersion: z.ZodMiniInt;
    openOrders: z.ZodMiniInt;
    pool: z.ZodMiniObject<{
        usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        openOrders: z.ZodMiniInt;
        equities: z.ZodMiniArray<z.ZodMiniObject<{
            symbol: z.ZodMiniString<string>;
            shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        }, z.core.$strip>>;
    }, z.core.$strip>;
}, z.core.$strip>;
export declare const marketBarsSchema: z.ZodMiniObject<{
    asOf: z.ZodMiniISODateTime;
    stale: z.ZodMiniBoolean<boolean>;
    barSeconds: z.ZodMiniInt;
    symbols: z.ZodMiniArray<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        bars: z.ZodMiniArray<z.ZodMiniObject<{
            at: z.ZodMiniISODateTime;
            close: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        }, z.core.$strip>>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export declare const marketClockSchema: z.ZodMiniObject<{
    isOpen: z.ZodMiniBoolean<boolean>;
    nextOpen: z.ZodMiniISODateTime;
    nextClose: z.ZodMiniISODateTime;
}, z.core.$strip>;
export declare const marketSchema: z.ZodMiniObject<{
    asOf: z.ZodMiniISODateTime;
    stale: z.ZodMiniBoolean<boolean>;
    symbols: z.ZodMiniArray<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        name: z.ZodMiniString<string>;
        price: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
        previousClose: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
        bid: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
        ask: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
        asOf: z.ZodMiniNullable<z.ZodMiniISODateTime>;
    }, z.core.$strip>>;
    fees: z.ZodMiniArray<z.ZodMiniObject<{
        name: z.ZodMiniString<string>;
        per: z.ZodMiniEnum<{
            share: "share";
            usd: "usd";
        }>;
        rate: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        max: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
        on: z.ZodMiniEnum<{
            both: "both";
            sale: "sale";
        }>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export declare const orderReceivedSchema: z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    result: z.ZodMiniEnum<{
        "already-received": "already-received";
        received: "received";
    }>;
    commit: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    receivedAt: z.ZodMiniISODateTime;
}, z.core.$strip>;
export declare const orderStatusSchema: z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    state: z.ZodMiniEnum<{
        NONE: "NONE";
        OPEN: "OPEN";
        REFUNDED: "REFUNDED";
        SETTLED: "SETTLED";
    }>;
    account: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
    amount: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    deposit: z.ZodMiniOptional<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>>;
    deadline: z.ZodMiniNullable<z.ZodMiniISODateTime>;
    commit: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
    receivedAt: z.ZodMiniNullable<z.ZodMiniISODateTime>;
    triggers: z.ZodMiniArray<z.ZodMiniObject<{
        attempt: z.ZodMiniInt;
        reason: z.ZodMiniEnum<{
            received: "received";
            reclaimed: "reclaimed";
            recovered: "recovered";
            restart: "restart";
            retry: "retry";
        }>;
        startedAt: z.ZodMiniISODateTime;
        finishedAt: z.ZodMiniNullable<z.ZodMiniISODateTime>;
        outcome: z.ZodMiniNullable<z.ZodMiniEnum<{
            accepted: "accepted";
            done: "done";
            failed: "failed";
            placed: "placed";
            queued: "queued";
            refunded: "refunded";
            rejected: "rejected";
            settled: "settled";
        }>>;
        waitsFor: z.ZodMiniOptional<z.ZodMiniEnum<{
            "actions-unknown": "actions-unknown";
            "broker-rate-limit": "broker-rate-limit";
            "broker-turn": "broker-turn";
            "chain-depth": "chain-depth";
            "market-closed": "market-closed";
            paused: "paused";
            "relay-budget-exhausted": "relay-budget-exhausted";
            "relay-quota-exhausted": "relay-quota-exhausted";
        }>>;
    }, z.core.$strip>>;
    nextTriggerAt: z.ZodMiniNullable<z.ZodMiniISODateTime>;
    notice: z.ZodMiniNullable<z.ZodMiniObject<{
        epk: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        iv: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        ct: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        tag: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strip>>;
    cancelReceivedAt: z.ZodMiniOptional<z.ZodMiniISODateTime>;
    opening: z.ZodMiniOptional<z.ZodMiniObject<{
        status: z.ZodMiniEnum<{
            confirmed: "confirmed";
            failed: "failed";
            pending: "pending";
            submitted: "submitted";
        }>;
        error: z.ZodMiniNullable<z.ZodMiniObject<{
            name: z.ZodMiniString<string>;
            args: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
        }, z.core.$strip>>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export declare const policyVersionSchema: z.ZodMiniObject<{
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniInt;
}, z.core.$strip>;
export declare const timelineSchema: z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    entries: z.ZodMiniArray<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
        kind: z.ZodMiniLiteral<"received">;
        at: z.ZodMiniISODateTime;
        commit: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strip>, z.ZodMiniObject<{
        status: z.ZodMiniEnum<{
            confirmed: "confirmed";
            failed: "failed";
            pending: "pending";
            submitted: "submitted";
        }>;
        error: z.ZodMiniNullable<z.ZodMiniObject<{
            name: z.ZodMiniString<string>;
            args: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
        }, z.core.$strip>>;
        kind: z.ZodMiniLiteral<"opening">;
        at: z.ZodMiniISODateTime;
        digest: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strip>, z.ZodMiniObject<{
        kind: z.ZodMiniLiteral<"cancel-received">;
        at: z.ZodMiniISODateTime;
    }, z.core.$strip>, z.ZodMiniObject<{
        at: z.ZodMiniISODateTime;
        attempt: z.ZodMiniInt;
        kind: z.ZodMiniLiteral<"triggered">;
        reason: z.ZodMiniEnum<{
            received: "received";
            reclaimed: "reclaimed";
            recovered: "recovered";
            restart: "restart";
            retry: "retry";
        }>;
    }, z.core.$strip>, z.ZodMiniObject<{
        at: z.ZodMiniISODateTime;
        attempt: z.ZodMiniInt;
        kind: z.ZodMiniLiteral<"outcome">;
        outcome: z.ZodMiniEnum<{
            accepted: "accepted";
            done: "done";
            failed: "failed";
            placed: "placed";
            queued: "queued";
            refunded: "refunded";
            rejected: "rejected";
            settled: "settled";
        }>;
        waitsFor: z.ZodMiniOptional<z.ZodMiniEnum<{
            "actions-unknown": "actions-unknown";
            "broker-rate-limit": "broker-rate-limit";
            "broker-turn": "broker-turn";
            "chain-depth": "chain-depth";
            "market-closed": "market-closed";
            paused: "paused";
            "relay-budget-exhausted": "relay-budget-exhausted";
            "relay-quota-exhausted": "relay-quota-exhausted";
        }>>;
    }, z.core.$strip>, z.ZodMiniObject<{
        kind: z.ZodMiniLiteral<"relayed">;
        at: z.ZodMiniISODateTime;
        digest: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        status: z.ZodMiniEnum<{
            confirmed: "confirmed";
            failed: "failed";
            pending: "pending";
            submitted: "submitted";
        }>;
    }, z.core.$strip>, z.ZodMiniObject<{
        kind: z.ZodMiniLiteral<"transaction">;
        at: z.ZodMiniISODateTime;
        digest: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        status: z.ZodMiniEnum<{
            confirmed: "confirmed";
            failed: "failed";
            submitted: "submitted";
        }>;
        blockNumber: z.ZodMiniNullable<z.ZodMiniInt>;
    }, z.core.$strip>, z.ZodMiniObject<{
        at: z.ZodMiniISODateTime;
        txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        blockNumber: z.ZodMiniInt;
        kind: z.ZodMiniLiteral<"opened">;
        event: z.ZodMiniLiteral<"OrderOpened">;
    }, z.core.$strip>, z.ZodMiniObject<{
        at: z.ZodMiniISODateTime;
        txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        blockNumber: z.ZodMiniInt;
        kind: z.ZodMiniLiteral<"settled">;
        event: z.ZodMiniLiteral<"OrderSettled">;
    }, z.core.$strip>, z.ZodMiniObject<{
        at: z.ZodMiniISODateTime;
        txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        blockNumber: z.ZodMiniInt;
        kind: z.ZodMiniEnum<{
            reclaimed: "reclaimed";
            refunded: "refunded";
        }>;
        event: z.ZodMiniLiteral<"OrderRefunded">;
    }, z.core.$strip>], "kind">>;
}, z.core.$strip>;
export declare const walletSchema: z.ZodMiniObject<{
    address: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    screen: z.ZodMiniEnum<{
        found: "found";
        trade: "trade";
        wait: "wait";
    }>;
    orgId: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
    role: z.ZodMiniNullable<z.ZodMiniEnum<{
        admin: "admin";
        employee: "employee";
        founder: "founder";
    }>>;
    waitingFor: z.ZodMiniArray<z.ZodMiniEnum<{
        admission: "admission";
        kyc: "kyc";
        policy: "policy";
    }>>;
    leavingAt: z.ZodMiniNullable<z.ZodMiniInt>;
    invitation: z.ZodMiniNullable<z.ZodMiniObject<{
        orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        admin: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export type ComplianceView = z.output<typeof complianceSchema>;
export type Health = z.output<typeof healthSchema>;
export type HealthChecks = z.output<typeof healthChecksSchema>;
export type InstitutionView = z.output<typeof institutionSchema>;
export type MarketBars = z.output<typeof marketBarsSchema>;
export type MarketClock = z.output<typeof marketClockSchema>;
export type MarketView = z.output<typeof marketSchema>;
export type OrderReceived = z.output<typeof orderReceivedSchema>;
export type OrderStatus = z.output<typeof orderStatusSchema>;
export type PolicyVersion = z.output<typeof policyVersionSchema>;
export type Timeline = z.output<typeof timelineSchema>;
export type WalletView = z.output<typeof walletSchema>;
import * as z from 'zod/mini';

// protocol/corporateActions.d.ts
export declare const corporateActionSchema: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    index: z.ZodMiniInt;
    symbol: z.ZodMiniString<string>;
    recordAt: z.ZodMiniInt;
    kind: z.ZodMiniEnum<{
        SPLIT: "SPLIT";
        STOCK_DIVIDEND: "STOCK_DIVIDEND";
    }>;
    numerator: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    denominator: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    index: z.ZodMiniInt;
    symbol: z.ZodMiniString<string>;
    recordAt: z.ZodMiniInt;
    kind: z.ZodMiniLiteral<"ENTITLEMENT">;
}, z.core.$strict>, z.ZodMiniObject<{
    index: z.ZodMiniInt;
    symbol: z.ZodMiniString<string>;
    recordAt: z.ZodMiniInt;
    kind: z.ZodMiniLiteral<"PAYMENT">;
    numerator: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    denominator: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    entitlement: z.ZodMiniInt;
}, z.core.$strict>, z.ZodMiniObject<{
    index: z.ZodMiniInt;
    symbol: z.ZodMiniString<string>;
    recordAt: z.ZodMiniInt;
    kind: z.ZodMiniLiteral<"SYMBOL_CHANGE">;
    successor: z.ZodMiniString<string>;
}, z.core.$strict>, z.ZodMiniObject<{
    index: z.ZodMiniInt;
    symbol: z.ZodMiniString<string>;
    recordAt: z.ZodMiniInt;
    kind: z.ZodMiniLiteral<"REMOVAL">;
}, z.core.$strict>], "kind">;
export type CorporateAction = z.output<typeof corporateActionSchema>;
import * as z from 'zod/mini';

// protocol/enclaveKey.d.ts
export declare const enclaveKeySchema: z.ZodMiniObject<{
    publicKey: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    chainId: z.ZodMiniInt;
    escrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    scheme: z.ZodMiniString<string>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    takesOpenings: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    attestation: z.ZodMiniOptional<z.ZodMiniObject<{
        format: z.ZodMiniString<string>;
        evidence: z.ZodMiniString<string>;
        statement: z.ZodMiniString<string>;
    }, z.core.$strip>>;
    mode: z.ZodMiniOptional<z.ZodMiniEnum<{
        attested: "attested";
        "file-keys": "file-keys";
        "keys-awaited": "keys-awaited";
        test: "test";
    }>>;
    next: z.ZodMiniOptional<z.ZodMiniObject<{
        signer: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        effectiveAt: z.ZodMiniISODateTime;
        publicKey: z.ZodMiniOptional<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
        attestation: z.ZodMiniOptional<z.ZodMiniObject<{
            format: z.ZodMiniString<string>;
            evidence: z.ZodMiniString<string>;
            statement: z.ZodMiniString<string>;
        }, z.core.$strip>>;
    }, z.core.$strip>>;
}, z.core.$strip>;
export type EnclaveKey = z.output<typeof enclaveKeySchema>;
import * as z from 'zod/mini';

// protocol/envelope.d.ts
export interface Envelope {
    epk: Hex;
    iv: Hex;
    ct: Hex;
    tag: Hex;
}

// protocol/hex.d.ts
export type Bytes = Uint8Array<ArrayBuffer>;
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

// protocol/notice.d.ts
declare const noticeSchema: z.ZodMiniObject<{
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    code: z.ZodMiniString<string>;
    message: z.ZodMiniString<string>;
}, z.core.$strict>;
export type Notice = z.output<typeof noticeSchema>;
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
import * as z from 'zod/mini';

// protocol/policy.d.ts
declare const policyShape: z.ZodMiniObject<{
    employees: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniUnion<readonly [z.ZodMiniObject<{
        canBuy: z.ZodMiniBoolean<boolean>;
        canSell: z.ZodMiniBoolean<boolean>;
        restricted: z.ZodMiniArray<z.ZodMiniString<string>>;
    }, z.core.$strict>, z.ZodMiniObject<{
        group: z.ZodMiniString<string>;
    }, z.core.$strict>]>>;
    groups: z.ZodMiniExactOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniObject<{
        canBuy: z.ZodMiniBoolean<boolean>;
        canSell: z.ZodMiniBoolean<boolean>;
        restricted: z.ZodMiniArray<z.ZodMiniString<string>>;
    }, z.core.$strict>>>;
    default: z.ZodMiniExactOptional<z.ZodMiniUnion<readonly [z.ZodMiniObject<{
        canBuy: z.ZodMiniBoolean<boolean>;
        canSell: z.ZodMiniBoolean<boolean>;
        restricted: z.ZodMiniArray<z.ZodMiniString<string>>;
    }, z.core.$strict>, z.ZodMiniObject<{
        group: z.ZodMiniString<string>;
    }, z.core.$strict>]>>;
    maxOrderNotional: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    allowWithdrawShares: z.ZodMiniBoolean<boolean>;
}, z.core.$strict>;
declare const rulesSchema: z.ZodMiniObject<{
    canBuy: z.ZodMiniBoolean<boolean>;
    canSell: z.ZodMiniBoolean<boolean>;
    restricted: z.ZodMiniArray<z.ZodMiniString<string>>;
}, z.core.$strict>;
export declare function memberRules(policy: Policy, wallet: string): Rules | undefined;
export type Policy = z.output<typeof policyShape>;
export type Rules = z.output<typeof rulesSchema>;
import * as z from 'zod/mini';

// protocol/portfolio.d.ts
export declare const portfolioSchema: z.ZodMiniObject<{
    cash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    positions: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniObject<{
        qty: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        locked: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strict>>;
    openOrders: z.ZodMiniRecord<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>, z.ZodMiniObject<{
        side: z.ZodMiniEnum<{
            BUY: "BUY";
            DEPOSIT: "DEPOSIT";
            SELL: "SELL";
            WITHDRAW: "WITHDRAW";
        }>;
        symbol: z.ZodMiniString<string>;
        notional: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        escrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        locked: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        brokerOrderId: z.ZodMiniString<string>;
        placedAt: z.ZodMiniInt;
        limit: z.ZodMiniOptional<z.ZodMiniObject<{
            price: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
            timeInForce: z.ZodMiniEnum<{
                DAY: "DAY";
                GTD: "GTD";
            }>;
        }, z.core.$strict>>;
    }, z.core.$strict>>;
    nonce: z.ZodMiniInt;
    userPubKey: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    actions: z.ZodMiniOptional<z.ZodMiniInt>;
    writtenAt: z.ZodMiniOptional<z.ZodMiniInt>;
    entitlements: z.ZodMiniOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>>;
}, z.core.$strict>;
export type Portfolio = z.output<typeof portfolioSchema>;
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

// protocol/rulebookCopy.d.ts
export declare const rulebookCopySchema: z.ZodMiniObject<{
    format: z.ZodMiniLiteral<"service-rulebook-copy-v1">;
    chainId: z.ZodMiniInt;
    escrow: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    orgId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniInt;
    envelope: z.ZodMiniObject<{
        epk: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        iv: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        ct: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        tag: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    }, z.core.$strict>;
}, z.core.$strict>;
export type RulebookCopy = z.output<typeof rulebookCopySchema>;
import * as z from 'zod/mini';
