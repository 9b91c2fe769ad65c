import * as z from 'zod/mini'
import { addressSchema } from '../../protocol/address.js'
import { depositSchema } from '../../protocol/api.js'
import { corporateActionSchema, isRatio, PAID_FOR, type PaidFor } from '../../protocol/corporateActions.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { limitSchema, sideSchema } from '../../protocol/orderTerms.js'
import { publicKeySchema } from '../../protocol/point.js'
import { uint64Schema, uint256Schema } from '../../protocol/units.js'

/** An integer in base units that may be negative: a decimal string on the wire, a `bigint` inside. */
const intSchema = z.codec(z.string().check(z.maxLength(80), z.regex(/^(?:0|-?[1-9]\d*)$/)), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
})
const sharesSchema = z.record(symbolSchema, intSchema)

const cursorSchema = z.strictObject({
  blockNumber: z.int().check(z.minimum(0)),
  /** Shows whether the chain still has that block. */
  blockHash: bytes32Schema,
  logIndex: z.int().check(z.minimum(0)),
  /** The entry's place among those of the same event, from 0. */
  part: z.int().check(z.minimum(0)),
})
/** An entry's place on the chain. `getHistory(client, { after: cursor })` resumes after it. */
export type HistoryCursor = Readonly<z.output<typeof cursorSchema>>

const place = {
  /** Unix seconds, of the block. */
  timestamp: z.int().check(z.minimum(0)),
  txHash: bytes32Schema,
  /** Whether the block has the requested confirmations. A reorganization may still remove other entries. */
  isFinal: z.boolean(),
  cursor: cursorSchema,
}
const orderId = bytes32Schema
const version = uint64Schema
/** An order's terms; null where no readable version of the portfolio has it. */
const terms = {
  side: z.nullable(sideSchema),
  symbol: z.nullable(symbolSchema),
  usdc: z.nullable(uint256Schema),
}
/** What moves between wallet and portfolio. */
const cash = { usdc: uint256Schema }
const shares = { symbol: symbolSchema, shares: uint256Schema }
const returned = { returned: uint256Schema, deposit: z.optional(depositSchema) }
/** The shares that a deposit has in escrow. */
export type Deposit = Readonly<z.output<typeof depositSchema>>

/**
 * One event of an account, by `kind`. USDC amounts have 6 decimals, shares 9, and prices are USDC base units for one share.
 */
export const historyEntrySchema = z.discriminatedUnion('kind', [
  /** The escrow was opened: USDC left the wallet, or the shares of a `deposit`. */
  z.strictObject({
    kind: z.literal('opened'),
    orderId,
    escrowed: uint256Schema,
    deposit: z.optional(depositSchema),
    /** Unix seconds. */
    deadline: z.int().check(z.minimum(0)),
    ...place,
  }),
  /** The enclave admitted a buy or a sale and wrote it into the portfolio. `usdc` is what was ordered. */
  z.strictObject({
    kind: z.literal('accepted'),
    orderId,
    version,
    side: sideSchema,
    symbol: symbolSchema,
    usdc: uint256Schema,
    escrowed: uint256Schema,
    /** Shares that a sale locks. */
    locked: uint256Schema,
    /** Of a limit order. */
    limit: z.optional(limitSchema),
    ...place,
  }),
  /** `usdc` was ordered; `cost` is rounded up to the cent. The rest of `escrowed` became cash; with nothing escrowed, cash paid for it. */
  z.strictObject({
    kind: z.literal('bought'),
    orderId,
    version,
    symbol: symbolSchema,
    usdc: uint256Schema,
    shares: uint256Schema,
    cost: uint256Schema,
    /** `cost / shares`, rounded down; null without shares. */
    price: z.nullable(uint256Schema),
    escrowed: uint256Schema,
    ...place,
  }),
  /** `usdc` was ordered; `proceeds` are net: rounded down to the cent, less the broker's fees (see `saleFees`). */
  z.strictObject({
    kind: z.literal('sold'),
    orderId,
    version,
    symbol: symbolSchema,
    usdc: uint256Schema,
    shares: uint256Schema,
    proceeds: uint256Schema,
    /** `proceeds / shares`, rounded down; null without shares. */
    price: z.nullable(uint256Schema),
    ...place,
  }),
  /** The enclave ended the order without a fill. `returned` USDC and the shares of a `deposit` are in the wallet, or a claim to them. */
  z.strictObject({ kind: z.literal('refunded'), orderId, ...terms, ...returned, ...place }),
  /** The account took its escrow back. A fill of a sale, or of a buy from cash, follows as `sold` or `bought`. */
  z.strictObject({ kind: z.literal('reclaimed'), orderId, ...terms, ...returned, ...place }),
  z.strictObject({ kind: z.literal('cash-withdrawn'), orderId, version, ...cash, ...place }),
  z.strictObject({ kind: z.literal('shares-withdrawn'), orderId, version, ...shares, ...place }),
  z.strictObject({ kind: z.literal('cash-deposited'), orderId, version, ...cash, ...place }),
  z.strictObject({ kind: z.literal('shares-deposited'), orderId, version, ...shares, ...place }),
  /** The portfolio, or a part of it, moved from a lost wallet to a new one: what the account's own balance lost or gained by it. */
  z.strictObject({
    kind: z.literal('moved'),
    /** Of no order. */
    orderId: z.null(),
    version,
    from: addressSchema,
    to: addressSchema,
    cash: intSchema,
    shares: sharesSchema,
    ...place,
  }),
  /**
   * A corporate action changed the portfolio, or gave it a claim to cash. It is where the action entered the public list; no
   * version is written for it.
   */
  z.strictObject({
    kind: z.literal('carried'),
    /** Of no order. */
    orderId: z.null(),
    action: corporateActionSchema,
    cash: intSchema,
    shares: sharesSchema,
    /** The shares with a claim, of an ENTITLEMENT and of a PAYMENT. Null where no key opens the portfolio of that date. */
    entitled: z.optional(z.nullable(uint256Schema)),
    /** What the cash of such a claim is paid for; null for a dividend, and for every other kind. */
    paidFor: z.nullable(z.enum(PAID_FOR)),
    ...place,
  }),
  /** From this version on, portfolios are sealed to another key. */
  z.strictObject({
    kind: z.literal('key-changed'),
    orderId,
    version,
    from: publicKeySchema,
    to: publicKeySchema,
    ...place,
  }),
  /**
   * A version whose effect is unknown. `reason`:
   * - `other-key`: none of the account's keys opens it
   * - `malformed`: it opens, and is no portfolio of a format that this client knows
   * - `not-in-calldata`: the transaction does not contain the authorization in plain ABI encoding
   * - `unknown-predecessor`: it opens, but not the version before
   */
  z.strictObject({
    kind: z.literal('unreadable'),
    orderId: z.nullable(orderId),
    version,
    reason: z.enum(['other-key', 'malformed', 'not-in-calldata', 'unknown-predecessor']),
    /** The authorization's effect on the order, which is public; null if the authorization was not found. */
    action: z.nullable(z.enum(['updated', 'settled', 'refunded'])),
    ...place,
  }),
  /**
   * The part of the change since `sinceVersion` that no other entry explains: the sum of unreadable versions, or the
   * opening balance of a history that does not begin with the first version.
   */
  z.strictObject({
    kind: z.literal('adjusted'),
    orderId,
    version,
    sinceVersion: uint64Schema,
    cash: intSchema,
    /** By symbol, without zeros. */
    shares: sharesSchema,
    ...place,
  }),
])
export type HistoryEntry = Readonly<z.output<typeof historyEntrySchema>>
export type HistoryKind = HistoryEntry['kind']

type Unplaced<E> = E extends HistoryEntry ? Omit<E, 'timestamp' | 'txHash' | 'isFinal' | 'cursor'> : never
/** An entry before it has its place on the chain. */
export type EntryBody = Unplaced<HistoryEntry>

/** USDC base units, and share base units by symbol. */
export interface Balance {
  readonly cash: bigint
  readonly shares: Readonly<Record<string, bigint>>
}
export const balanceSchema = z.strictObject({ cash: intSchema, shares: sharesSchema })
export const NO_BALANCE: Balance = { cash: 0n, shares: {} }

/** Sums two balances; symbols without shares are left out. */
export function plus(one: Balance, other: Balance): Balance {
  const symbols = new Set([...Object.keys(one.shares), ...Object.keys(other.shares)])
  const sums = [...symbols].map(
    (symbol) => [symbol, (one.shares[symbol] ?? 0n) + (other.shares[symbol] ?? 0n)] as const,
  )
  return {
    cash: one.cash + other.cash,
    shares: Object.fromEntries(sums.filter(([, shares]) => shares !== 0n)),
  }
}

/** The difference between two balances, without zeros. */
export function minus(one: Balance, other: Balance): Balance {
  const negated = Object.entries(other.shares).map(([symbol, shares]) => [symbol, -shares] as const)
  return plus(one, { cash: -other.cash, shares: Object.fromEntries(negated) })
}

/**
 * An entry's effect on the portfolio. The sum of all effects is the portfolio.
 * @example const spent = entries.reduce((sum, entry) => sum + effectOf(entry).cash, 0n)
 */
export function effectOf(entry: EntryBody): Balance {
  switch (entry.kind) {
    case 'bought':
      return { cash: entry.escrowed - entry.cost, shares: { [entry.symbol]: entry.shares } }
    case 'sold':
      return { cash: entry.proceeds, shares: { [entry.symbol]: -entry.shares } }
    case 'cash-withdrawn':
      return { cash: -entry.usdc, shares: {} }
    case 'cash-deposited':
      return { cash: entry.usdc, shares: {} }
    case 'shares-withdrawn':
      return { cash: 0n, shares: { [entry.symbol]: -entry.shares } }
    case 'shares-deposited':
      return { cash: 0n, shares: { [entry.symbol]: entry.shares } }
    case 'moved':
    case 'carried':
    case 'adjusted':
      return { cash: entry.cash, shares: entry.shares }
    default:
      return NO_BALANCE
  }
}

const ACTION_WORDS = {
  SPLIT: 'split',
  STOCK_DIVIDEND: 'stock dividend',
  ENTITLEMENT: 'ex-dividend',
  PAYMENT: 'dividend',
  SYMBOL_CHANGE: 'new symbol',
  REMOVAL: 'removed',
} as const
const CASH_WORDS = {
  split: 'cash in lieu',
  'stock-dividend': 'cash in lieu',
  merger: 'merger cash',
  'spin-off': 'spin-off proceeds',
  'symbol-change': 'cash in lieu',
  other: 'other proceeds',
} as const

/** Cash that is no dividend, in a few words. */
export const cashWords = (paidFor: PaidFor): string => CASH_WORDS[paidFor]

type Carried = Extract<EntryBody, { kind: 'carried' }>

/**
 * A corporate action in a few words.
 * @example for (const entry of entries) if (entry.kind === 'carried') console.log(actionWords(entry)) // 'split 4:1'
 */
export function actionWords({ action, paidFor }: Pick<Carried, 'action' | 'paidFor'>): string {
  if (paidFor !== null) {
    return `${action.kind === 'PAYMENT' ? '' : 'claim to '}${cashWords(paidFor)}`
  }
  const words = ACTION_WORDS[action.kind]
  if (action.kind === 'SYMBOL_CHANGE') return `${words} ${action.successor}`
  return isRatio(action) ? `${words} ${action.numerator}:${action.denominator}` : words
}

/** Whether the entry comes after the cursor. */
export function isAfter({ cursor }: Pick<HistoryEntry, 'cursor'>, other: HistoryCursor): boolean {
  return (
    (cursor.blockNumber - other.blockNumber || cursor.logIndex - other.logIndex || cursor.part - other.part) >
    0
  )
}

/**
 * The transaction's page in a block explorer, such as `https://etherscan.io`.
 * @example const link = explorerLink('https://etherscan.io', orderId)
 */
export function explorerLink(explorerUrl: string, txHash: Hex): string {
  return `${explorerUrl.replace(/\/+$/, '')}/tx/${txHash}`
}
