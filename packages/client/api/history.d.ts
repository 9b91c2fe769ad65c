// Written by `npm run client-api` from client/history.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   AccountHistory
//   Balance
//   CsvCell
//   Disposal
//   EntryBody
//   HistoryCursor
//   HistoryEntry
//   HistoryKind
//   HistoryOptions
//   Holding
//   Holdings
//   ListedOrder
//   Lot
//   Lots
//   OrderList
//   OrderListOptions
//   OrderSummary
//   Period
//   PricePoint
//   Prices
//   SaleFees
//   Statement
//   StatementBalance
//   StatementFormat
//   StatementLine
//   ValuePoint
//   actionWords
//   adjustedPrices
//   averageCost
//   costLeft
//   csvOf
//   effectOf
//   explorerLink
//   getHistory
//   holdingsOf
//   listOrders
//   lotsOf
//   ordersOf
//   periodOf
//   saleFees
//   statementFile
//   statementOf
//   unrealisedGain
//   valueAt
//   valueOverTime

// client/csv.d.ts
export declare function csvOf(head: readonly string[], rows: readonly (readonly CsvCell[])[]): string;
export type CsvCell = string | {
    readonly units: bigint;
    readonly decimals: number;
};

// client/history.d.ts
export declare function getHistory(client: Client, options?: HistoryOptions): Promise<AccountHistory>;
export declare function listOrders(client: Client, options?: OrderListOptions): AsyncGenerator<OrderList, void, undefined>;

// client/history/entries.d.ts
declare const cursorSchema: z.ZodMiniObject<{
    blockNumber: z.ZodMiniInt;
    blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    logIndex: z.ZodMiniInt;
    part: z.ZodMiniInt;
}, z.core.$strict>;
export declare const historyEntrySchema: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"opened">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    escrowed: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    deposit: z.ZodMiniOptional<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>>;
    deadline: z.ZodMiniInt;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"accepted">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    side: z.ZodMiniEnum<{
        BUY: "BUY";
        DEPOSIT: "DEPOSIT";
        SELL: "SELL";
        WITHDRAW: "WITHDRAW";
    }>;
    symbol: z.ZodMiniString<string>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    escrowed: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    locked: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    limit: z.ZodMiniOptional<z.ZodMiniObject<{
        price: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
        timeInForce: z.ZodMiniEnum<{
            DAY: "DAY";
            GTD: "GTD";
        }>;
    }, z.core.$strict>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"bought">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    symbol: z.ZodMiniString<string>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    cost: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    price: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    escrowed: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"sold">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    symbol: z.ZodMiniString<string>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    proceeds: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    price: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    side: z.ZodMiniNullable<z.ZodMiniEnum<{
        BUY: "BUY";
        DEPOSIT: "DEPOSIT";
        SELL: "SELL";
        WITHDRAW: "WITHDRAW";
    }>>;
    symbol: z.ZodMiniNullable<z.ZodMiniString<string>>;
    usdc: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    returned: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    deposit: z.ZodMiniOptional<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>>;
    kind: z.ZodMiniLiteral<"refunded">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    side: z.ZodMiniNullable<z.ZodMiniEnum<{
        BUY: "BUY";
        DEPOSIT: "DEPOSIT";
        SELL: "SELL";
        WITHDRAW: "WITHDRAW";
    }>>;
    symbol: z.ZodMiniNullable<z.ZodMiniString<string>>;
    usdc: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    returned: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    deposit: z.ZodMiniOptional<z.ZodMiniObject<{
        symbol: z.ZodMiniString<string>;
        shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    }, z.core.$strip>>;
    kind: z.ZodMiniLiteral<"reclaimed">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    kind: z.ZodMiniLiteral<"cash-withdrawn">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    symbol: z.ZodMiniString<string>;
    shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    kind: z.ZodMiniLiteral<"shares-withdrawn">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    usdc: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    kind: z.ZodMiniLiteral<"cash-deposited">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    symbol: z.ZodMiniString<string>;
    shares: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    kind: z.ZodMiniLiteral<"shares-deposited">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"moved">;
    orderId: z.ZodMiniNull;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    from: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    to: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    cash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    shares: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"carried">;
    orderId: z.ZodMiniNull;
    action: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
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
    cash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    shares: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
    entitled: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>>;
    paidFor: z.ZodMiniNullable<z.ZodMiniEnum<{
        merger: "merger";
        other: "other";
        "spin-off": "spin-off";
        split: "split";
        "stock-dividend": "stock-dividend";
        "symbol-change": "symbol-change";
    }>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"key-changed">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    from: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    to: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"unreadable">;
    orderId: z.ZodMiniNullable<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    reason: z.ZodMiniEnum<{
        malformed: "malformed";
        "not-in-calldata": "not-in-calldata";
        "other-key": "other-key";
        "unknown-predecessor": "unknown-predecessor";
    }>;
    action: z.ZodMiniNullable<z.ZodMiniEnum<{
        refunded: "refunded";
        settled: "settled";
        updated: "updated";
    }>>;
}, z.core.$strict>, z.ZodMiniObject<{
    timestamp: z.ZodMiniInt;
    txHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    isFinal: z.ZodMiniBoolean<boolean>;
    cursor: z.ZodMiniObject<{
        blockNumber: z.ZodMiniInt;
        blockHash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
        logIndex: z.ZodMiniInt;
        part: z.ZodMiniInt;
    }, z.core.$strict>;
    kind: z.ZodMiniLiteral<"adjusted">;
    orderId: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniCustom<`0x${string}`, `0x${string}`>>;
    version: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    sinceVersion: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    cash: z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>;
    shares: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniBigInt<bigint>>>;
}, z.core.$strict>], "kind">;
export declare function actionWords({ action, paidFor }: Pick<Carried, 'action' | 'paidFor'>): string;
export declare function effectOf(entry: EntryBody): Balance;
export declare function explorerLink(explorerUrl: string, txHash: Hex): string;
export interface Balance {
    readonly cash: bigint;
    readonly shares: Readonly<Record<string, bigint>>;
}
export type EntryBody = Unplaced<HistoryEntry>;
export type HistoryCursor = Readonly<z.output<typeof cursorSchema>>;
export type HistoryEntry = Readonly<z.output<typeof historyEntrySchema>>;
export type HistoryKind = HistoryEntry['kind'];
import * as z from 'zod/mini';
type Carried = Extract<EntryBody, {
    kind: 'carried';
}>;
type Unplaced<E> = E extends HistoryEntry ? Omit<E, 'timestamp' | 'txHash' | 'isFinal' | 'cursor'> : never;

// client/history/history.d.ts
export interface AccountHistory {
    readonly entries: readonly HistoryEntry[];
    readonly finalUntil: number;
}
export interface HistoryOptions {
    readonly fromBlock?: number | undefined;
    readonly after?: HistoryCursor | undefined;
    readonly confirmations?: number | undefined;
    readonly finalOnly?: boolean | undefined;
    readonly store?: HistoryStore | undefined;
    readonly maxBlocks?: number | undefined;
    readonly signal?: AbortSignal | undefined;
}

// client/history/holdings.d.ts
export declare function adjustedPrices(entries: readonly HistoryEntry[]): readonly (bigint | null)[];
export declare function averageCost({ shares, cost }: Holding): bigint | null;
export declare function holdingsOf(entries: Iterable<HistoryEntry>): Holdings;
export declare function unrealisedGain({ shares, cost }: Holding, price: bigint): bigint | null;
export declare function valueAt({ cash, positions }: Pick<Holdings, 'cash' | 'positions'>, prices: Prices): bigint | null;
export declare function valueOverTime(entries: readonly HistoryEntry[], points: readonly PricePoint[]): readonly ValuePoint[];
export interface Holding {
    readonly shares: bigint;
    readonly cost: bigint | null;
}
export interface Holdings {
    readonly cash: bigint;
    readonly positions: Readonly<Record<string, Holding>>;
    readonly realised: Readonly<Record<string, bigint>>;
    readonly dividends: Readonly<Record<string, bigint>>;
    readonly paidIn: bigint;
    readonly paidOut: bigint;
    readonly isComplete: boolean;
}
export interface PricePoint {
    readonly timestamp: number;
    readonly prices: Prices;
}
export interface ValuePoint {
    readonly timestamp: number;
    readonly holdings: Holdings;
    readonly value: bigint | null;
    readonly gain: bigint | null;
}
export type Prices = Readonly<Record<string, bigint>>;

// client/history/lots.d.ts
export declare function costLeft({ cost, left }: Lot): bigint | null;
export declare function lotsOf(entries: Iterable<HistoryEntry>): Lots;
export interface Disposal {
    readonly symbol: string;
    readonly acquiredAt: number | null;
    readonly disposedAt: number;
    readonly shares: bigint | null;
    readonly paidFor: PaidFor | null;
    readonly proceeds: bigint;
    readonly cost: bigint | null;
    readonly txHash: Hex;
}
export interface Lot {
    readonly symbol: string;
    readonly since: number;
    readonly shares: Ratio;
    readonly cost: bigint | null;
    readonly left: Ratio;
}
export interface Lots {
    readonly lots: readonly Lot[];
    readonly disposals: readonly Disposal[];
}

// client/history/orderList.d.ts
export declare function ordersOf(entries: Iterable<HistoryEntry>): readonly OrderSummary[];
export declare function saleFees({ shares, proceeds }: Pick<Extract<HistoryEntry, {
    kind: 'sold';
}>, 'shares' | 'proceeds'>, schedule: FeeSchedule): SaleFees | null;
export interface OrderSummary {
    readonly orderId: Hex;
    readonly state: 'OPEN' | 'SETTLED' | 'REFUNDED';
    readonly side: Side | null;
    readonly symbol: string | null;
    readonly usdc: bigint | null;
    readonly limit: Limit | null;
    readonly escrowed: bigint;
    readonly shares: bigint | null;
    readonly value: bigint | null;
    readonly price: bigint | null;
    readonly openedAt: number | null;
    readonly endedAt: number | null;
    readonly openedIn: Hex | null;
    readonly endedIn: Hex | null;
    readonly isFinal: boolean;
}
export interface SaleFees {
    readonly gross: bigint;
    readonly fees: bigint;
}

// client/history/statement.d.ts
export declare function periodOf(name: string): Period | null;
export declare function statementOf(entries: readonly HistoryEntry[], period: Period, until: number): Statement;
export interface Period {
    readonly name: string;
    readonly from: number;
    readonly to: number;
}
export interface Statement {
    readonly period: Period;
    readonly opening: StatementBalance;
    readonly closing: StatementBalance;
    readonly lines: readonly StatementLine[];
    readonly disposals: readonly Disposal[];
    readonly gain: bigint | null;
    readonly dividends: bigint;
    readonly until: number;
    readonly isFinal: boolean;
    readonly isComplete: boolean;
}
export interface StatementBalance {
    readonly cash: bigint;
    readonly positions: Readonly<Record<string, bigint>>;
}
export interface StatementLine {
    readonly timestamp: number;
    readonly event: string;
    readonly symbol: string | null;
    readonly shares: bigint | null;
    readonly price: bigint | null;
    readonly amount: bigint | null;
    readonly cash: bigint;
}

// client/history/statementFiles.d.ts
export declare function statementFile(statement: Statement, format: StatementFormat, account: Hex): Uint8Array<ArrayBuffer>;
export type StatementFormat = 'pdf' | 'csv' | 'tax';

// client/lists.d.ts
export interface ListedOrder extends BlockPlace {
    readonly orderId: Hex;
    readonly account: Hex;
    readonly escrowed: bigint;
    readonly deadline: number;
    readonly txHash: Hex;
}
export interface OrderList extends ReadList {
    readonly orders: readonly ListedOrder[];
}
export interface OrderListOptions extends ListOptions<OrderList> {
    readonly account?: Hex | undefined;
}

// protocol/corporateActions.d.ts
export declare const PAID_FOR: readonly ['split', 'stock-dividend', 'merger', 'spin-off', 'symbol-change', 'other'];
export type PaidFor = (typeof PAID_FOR)[number];

// protocol/fees.d.ts
export declare const feeSchema: z.ZodMiniObject<{
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
}, z.core.$strip>;
export type Fee = Readonly<z.output<typeof feeSchema>>;
export type FeeSchedule = readonly Fee[];
import * as z from 'zod/mini';

// protocol/ratio.d.ts
export interface Ratio {
    readonly numerator: bigint;
    readonly denominator: bigint;
}
