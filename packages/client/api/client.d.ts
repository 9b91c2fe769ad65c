// Written by `npm run client-api` from client/index.d.ts: the public types, and all that they name.
// Exports:
//   AccountMove
//   BlockPlace
//   BuyTerms
//   CallOptions
//   CashMoveTerms
//   Claim
//   ClaimOptions
//   ClaimsOptions
//   Client
//   ClientError
//   ClientErrorCode
//   ClientOptions
//   ComplianceView
//   ContractError
//   CorporateAction
//   Duration
//   Eip1193Provider
//   EnclaveKey
//   EndedMove
//   Envelope
//   Evidence
//   FollowOptions
//   FrozenHolding
//   Funds
//   Health
//   HealthChecks
//   Hex
//   HistoryStore
//   InstitutionView
//   KeptOrder
//   ListOptions
//   Listings
//   LogList
//   MarketBars
//   MarketClock
//   MarketView
//   Membership
//   Mined
//   MoveOptions
//   Moves
//   NextEnclave
//   NotSubmittedError
//   Notice
//   OpenedPortfolio
//   OpeningState
//   OrderKeeping
//   OrderReceived
//   OrderRequest
//   OrderStatus
//   OrderStore
//   OrderTerms
//   OrderTime
//   Past
//   PastMoves
//   PastOptions
//   PendingMove
//   Pins
//   PlaceOptions
//   PlaceStep
//   PlacedOrder
//   PlanOptions
//   Platform
//   Policy
//   PolicyVersion
//   Portfolio
//   PortfolioKey
//   Prompt
//   PublishedVersion
//   PublishedVersions
//   ReadList
//   Reader
//   ReaderOptions
//   RequestSource
//   ResumeOptions
//   Resumed
//   RetryTiming
//   SHARE_DECIMALS
//   SealedOrder
//   SellTerms
//   ServerError
//   ServerErrorCode
//   ShareMoveTerms
//   SharesOptions
//   Side
//   SignedOrder
//   Standing
//   SubmittableOrder
//   Tail
//   TakenId
//   Timeline
//   TimelineEntry
//   TradingError
//   Trust
//   USDC_DECIMALS
//   UnfinishedOrder
//   ViemWalletClient
//   Waiting
//   WalletShares
//   WalletSource
//   WalletView
//   WatchOptions
//   bytes32ToName
//   cannotDerive
//   createClient
//   createPast
//   createReader
//   createTail
//   foreignCode
//   formatDecimal
//   formatGrouped
//   isSignedOrder
//   nameToBytes32
//   parseDecimal
//   toTradingError

// attestation/nitro.d.ts
declare const REGISTER_MAPS: readonly ['pcrs', 'nitrotpm_pcrs'];
export type RegisterMap = (typeof REGISTER_MAPS)[number] | 'tdx';
export type Registers = Readonly<Record<string, string>>;

// attestation/policy.d.ts
export interface AcceptedProgram {
    readonly label: string;
    readonly pcrs?: Registers;
    readonly nitrotpm_pcrs?: Registers;
    readonly tdx?: Readonly<Record<'mrtd' | 'rtmr0' | 'rtmr1' | 'rtmr2' | 'composeHash' | 'keyProvider', string>>;
    readonly configuration: Hex;
    readonly until?: number;
}

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
export interface CommonExpectation {
    readonly programs: readonly AcceptedProgram[];
    readonly chainId: number;
    readonly escrow: Hex;
    readonly now: number;
    readonly nonce?: Hex | undefined;
}
export interface Expectation extends CommonExpectation {
    readonly signer: Hex;
}
export interface Verified<S extends CommonStatement = Statement> {
    readonly label: string;
    readonly map: RegisterMap;
    readonly measurement: Hex;
    readonly config: Hex;
    readonly statement: S;
    readonly issuedAt: number;
}
export type Measurements = (attestation: unknown, expected: Omit<Expectation, 'programs'>) => Promise<Verified>;

// chain/logReader.d.ts
export interface BlockId {
    readonly number: number;
    readonly hash: Hex;
}
export interface BlockRange {
    readonly from: number;
    readonly to: number;
}
export interface ChainLog {
    readonly address: Hex;
    readonly topics: readonly Hex[];
    readonly data: Hex;
    readonly blockNumber: number;
    readonly blockHash: Hex;
    readonly logIndex: number;
    readonly txHash: Hex;
    readonly blockTimestamp?: number | undefined;
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
export declare function createClient(options: ClientOptions): Client;
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
export type ClientOptions = WalletOptions & Trust;
interface WalletOptions extends ReaderOptions {
    readonly wallet: WalletSource;
    readonly account?: Hex | undefined;
    readonly miningTimeoutMs?: number | undefined;
    readonly orderStore?: OrderStore | undefined;
}

// client/contract.d.ts
export interface Mined {
    readonly txHash: Hex;
    readonly blockNumber: number;
}

// client/errors.d.ts
export declare abstract class TradingError extends Error {
    readonly code: string;
    readonly retryable: boolean;
    readonly requestId: string | null;
    readonly docs: string;
    constructor(message: string, { code, retryable, requestId, docs, ...options }: Details);
}
export declare class ClientError extends TradingError {
    readonly name: string;
    readonly code: ClientErrorCode;
    constructor(code: ClientErrorCode, message: string, options?: ErrorOptions & {
        readonly requestId?: string | null;
    });
}
export declare class ContractError extends TradingError {
    readonly method: string;
    readonly args: Revert['args'];
    readonly isOut: boolean;
    readonly name = "ContractError";
    constructor(
    method: string, code: string, args: Revert['args'], 
    isOut?: boolean);
}
export declare class ServerError extends TradingError {
    readonly status: number;
    readonly retryAfter: number | null;
    readonly problem: ProblemBody | null;
    readonly name = "ServerError";
    readonly code: ServerErrorCode;
    constructor(status: number, requestId: string | null, 
    retryAfter: number | null, 
    problem: ProblemBody | null, 
    docs?: string);
}
export type ClientErrorCode = ('no-provider' | 'no-account' | 'contract-wallet' | 'wallet-refused' | 'wallet-busy') | ('signature-refused' | 'signature-invalid' | 'wallet-not-deterministic') | ('wrong-chain' | 'unknown-scheme' | 'untrusted-enclave-key' | 'untrusted-escrow' | 'insecure-url') | ('unpinned-client' | 'unattested-enclave' | 'untrusted-enclave') | ('unannounced-program' | 'revoked-program') | ('invalid-order' | 'unlisted-symbol' | 'invalid-decimal' | 'invalid-rulebook' | 'invalid-name') | ('not-admin' | 'insufficient-usdc' | 'insufficient-shares') | ('insufficient-funds' | 'transaction-refused' | 'transaction-pending' | 'transaction-replaced') | ('opening-outstanding' | 'opening-expired' | 'opening-unsupported') | ('server-unreachable' | 'server-timeout' | 'unexpected-answer' | 'commit-differs') | ('portfolio-undecryptable' | 'portfolio-key-missing' | 'notice-undecryptable') | ('invalid-key-file' | 'foreign-key-file') | ('chain-reorganized' | 'node-unavailable' | 'node-timeout' | 'node-rate-limited') | ('too-much-to-read' | 'node-wrong-chain') | ('invalid-copy' | 'outdated-copy' | 'copy-undecryptable' | 'copy-unconfirmed') | ('order-not-kept' | 'no-kept-order' | 'invalid-kept-order') | 'code-not-loaded' | ('not-submitted' | 'unexpected');
export type ServerErrorCode = (typeof SERVER_ERROR_CODES)[number] | 'server-unavailable' | 'unknown';
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

// client/foreignErrors.d.ts
export declare function foreignCode(error: unknown): number | string | undefined;
export declare function toTradingError(error: unknown, refused?: ClientErrorCode): TradingError;

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

// client/keyring.d.ts
export declare function cannotDerive(error: unknown): boolean;

// client/logList.d.ts
export declare function createTail<L extends ReadList>(list: (options: Omit<ListOptions<L>, 'fromBlock' | 'limit' | 'store'>) => AsyncGenerator<L>): Tail<L>;
export interface ListOptions<L extends ReadList> extends CallOptions {
    readonly fromBlock?: number | undefined;
    readonly limit?: number | undefined;
    readonly resume?: L | undefined;
    readonly store?: HistoryStore | undefined;
    readonly maxBlocks?: number | undefined;
}
export interface LogList extends ReadList {
    readonly logs: readonly ChainLog[];
}
export type Tail<L> = (signal?: AbortSignal, report?: (soFar: L) => void | Promise<void>) => Promise<L>;

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
export interface OrderStore {
    keep(order: KeptOrder): Promise<void>;
    find(orderId: Hex): Promise<KeptOrder | null>;
    list(): Promise<readonly KeptOrder[]>;
    forget(orderId: Hex): Promise<void>;
}

// client/orders.d.ts
export interface Orders {
    getOrder(orderId: Hex, options?: CallOptions): Promise<OrderStatus>;
    watchOrder(orderId: Hex, options: WatchOptions): () => void;
    listOrderStatuses(orderId: Hex, options?: FollowOptions): AsyncGenerator<OrderStatus, void, undefined>;
    getOrderTimeline(orderId: Hex, options?: CallOptions): Promise<Timeline>;
    listOrderTimelines(orderId: Hex, options?: FollowOptions): AsyncGenerator<Timeline, void, undefined>;
}

// client/past/facts.d.ts
export interface FrozenHolding {
    readonly symbol: string;
    readonly wallet: Hex;
}
export interface Listings {
    readonly equities: readonly {
        readonly symbol: string;
        readonly isListed: boolean;
    }[];
    readonly frozen: readonly FrozenHolding[];
}
export interface PublishedVersion {
    readonly version: number;
    readonly at: number;
    readonly admin: Hex;
}
export interface Waiting {
    readonly founded: readonly {
        readonly orgId: Hex;
        readonly founder: Hex;
    }[];
    readonly unverified: readonly Hex[];
}
export type Standing = 'member' | 'invited' | 'outsider';

// client/past/past.d.ts
export declare function createPast(provider: RequestSource, { escrow, fromBlock, chainId, store }: PastOptions): Past;
export interface EndedMove {
    readonly orgId: Hex;
    readonly from: Hex;
    readonly to: Hex;
    readonly at: number;
    readonly by: Hex | null;
}
export interface Past {
    events(): Tail<LogList>;
    listings(): Tail<Listings & Progress>;
    waiting(): Tail<Waiting & Progress>;
    rulebooks(institution: {
        readonly orgId: Hex;
        readonly admin: Hex;
    }): Tail<PublishedVersions>;
    standing(member: {
        readonly orgId: Hex;
        readonly wallet: Hex;
    }): Tail<Standing | null>;
    moves(of?: {
        readonly orgId?: Hex;
        readonly to?: Hex;
    }): Tail<PastMoves>;
    isOwner(wallet: Hex): Promise<boolean>;
    getBlockTime(log: Pick<ChainLog, 'blockHash' | 'blockTimestamp'>): Promise<number>;
}
export interface PastMoves extends Progress {
    readonly moves: readonly PendingMove[];
    readonly ended: readonly EndedMove[];
}
export interface PastOptions {
    readonly escrow: Hex;
    readonly fromBlock: number;
    readonly chainId?: number | undefined;
    readonly store?: HistoryStore | undefined;
}
export interface PendingMove extends AccountMove {
    readonly from: Hex;
}
export interface PublishedVersions extends Progress {
    readonly versions: readonly PublishedVersion[];
}
type Progress = Pick<ReadList, 'isComplete' | 'read' | 'span'>;

// client/placeOrder.d.ts
export interface PlaceOptions extends CallOptions {
    readonly sponsored?: boolean | undefined;
    readonly approve?: bigint | undefined;
    readonly beforeOpen?: ((order: SealedOrder) => void | Promise<void>) | undefined;
    readonly onStep?: ((step: PlaceStep) => void) | undefined;
    readonly onIdTaken?: ((taken: TakenId) => void) | undefined;
    readonly onUnfinished?: ((order: UnfinishedOrder) => void) | undefined;
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
export interface UnfinishedOrder {
    readonly orderId: Hex;
    readonly state: 'open' | 'unopened' | 'signed';
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
export interface Pins {
    readonly enclavePublicKey?: Hex | undefined;
    readonly escrow?: Hex | undefined;
}
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
export type Trust = 
{
    readonly pins: Readonly<Record<keyof Pins, Hex>>;
    readonly measurements?: Measurements | undefined;
    readonly allowUnattested?: boolean | undefined;
}
 | {
    readonly measurements: Measurements;
    readonly pins?: Pins | undefined;
    readonly allowUnattested?: boolean | undefined;
}
 | {
    readonly allowUnattested: true;
    readonly pins?: Pins | undefined;
    readonly measurements?: Measurements | undefined;
};

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

// client/provider.d.ts
export interface Eip1193Provider {
    request(request: {
        readonly method: string;
        readonly params?: readonly unknown[] | object;
    }): Promise<unknown>;
}
export interface RequestSource {
    request(request: never): Promise<unknown>;
}
export interface ViemWalletClient extends RequestSource {
    readonly account?: {
        readonly address: Hex;
        readonly type: string;
    } | undefined;
    signMessage(request: never): Promise<string>;
    signTypedData(request: never): Promise<string>;
    sendTransaction(request: never): Promise<string>;
}
export type WalletSource = Signer | RequestSource | ViemWalletClient;
import type { Signer, TypedDataDomain, TypedDataField } from 'ethers';

// client/reader.d.ts
export declare function createReader(options: ReaderOptions): Reader;
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
export interface ReaderOptions {
    readonly serverUrl: string;
    readonly timeoutMs?: number | undefined;
    readonly timing?: RetryTiming | undefined;
    readonly fetch?: typeof fetch | undefined;
}

// client/retry.d.ts
export interface RetryTiming {
    readonly attempts: number;
    readonly baseMs: number;
    readonly maxMs: number;
}

// client/sealedOrder.d.ts
export declare class NotSubmittedError extends ClientError {
    readonly order: SealedOrder;
    readonly name = "NotSubmittedError";
    constructor(order: SealedOrder, cause: unknown);
}
export declare function isSignedOrder<T extends Pick<SealedOrder, 'opening' | 'orderId' | 'commit'>>(order: T): order is T & SignedOrder;
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

// client/serverErrorCodes.d.ts
export declare const SERVER_ERROR_CODES: readonly ['malformed-request', 'malformed-json', 'invalid-body', 'invalid-parameter', 'invalid-envelope', 'relay-unauthorized', 'run-unauthorized', 'origin-not-allowed', 'not-order-account', 'not-found', 'order-not-found', 'institution-not-found', 'unattested-enclave', 'receipt-not-found', 'method-not-allowed', 'order-ended', 'opening-under-way', 'order-under-way', 'request-timeout', 'body-too-large', 'unsupported-media-type', 'run-too-late', 'policy-rejected', 'resolution-rejected', 'invalid-signature', 'opening-not-sponsored', 'invalid-opening', 'would-revert', 'rate-limited', 'too-many-at-once', 'too-many-runs', 'too-many-waiting', 'headers-too-large', 'relay-quota-exhausted', 'internal-error', 'enclave-failed', 'chain-unavailable', 'market-unavailable', 'storage-unavailable', 'relayer-underfunded', 'platform-paused', 'relay-budget-exhausted', 'relay-overloaded', 'enclave-busy', 'keys-awaited', 'enclave-unavailable', 'intake-full', 'overloaded', 'shutting-down', 'enclave-timeout'];

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
export declare const problemSchema: z.ZodMiniObject<{
    type: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    status: z.ZodMiniInt;
    detail: z.ZodMiniString<string>;
    instance: z.ZodMiniString<string>;
    code: z.ZodMiniString<string>;
    requestId: z.ZodMiniString<string>;
    revert: z.ZodMiniOptional<z.ZodMiniObject<{
        name: z.ZodMiniString<string>;
        args: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
    }, z.core.$strip>>;
    quota: z.ZodMiniOptional<z.ZodMiniEnum<{
        account: "account";
        institution: "institution";
        opening: "opening";
    }>>;
}, z.core.$loose>;
export declare const revertSchema: z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    args: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
}, z.core.$strip>;
export declare const timelineEntrySchema: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
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
}, z.core.$strip>], "kind">;
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
export type ProblemBody = z.output<typeof problemSchema>;
export type Revert = z.output<typeof revertSchema>;
export type Timeline = z.output<typeof timelineSchema>;
export type TimelineEntry = z.output<typeof timelineEntrySchema>;
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

// protocol/identifiers.d.ts
export declare function bytes32ToName(id: Hex): string | null;
export declare function nameToBytes32(name: string): Hex;

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
export declare const sideSchema: z.ZodMiniEnum<{
    BUY: "BUY";
    DEPOSIT: "DEPOSIT";
    SELL: "SELL";
    WITHDRAW: "WITHDRAW";
}>;
export type Limit = z.output<typeof limitSchema>;
export type Side = z.output<typeof sideSchema>;
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
export type Policy = z.output<typeof policyShape>;
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

// protocol/units.d.ts
export declare const SHARE_DECIMALS = 9;
export declare const USDC_DECIMALS = 6;
export declare function formatDecimal(units: bigint, decimals: number): string;
export declare function formatGrouped(units: bigint, decimals: number, least?: number): string;
export declare function parseDecimal(text: string, decimals: number, rounding?: Rounding): bigint;
export type Rounding = 'down' | 'up' | 'exact';
