// Steps that move money, as fast-check draws them. A step names orders, amounts and numbers relative to the model's state
// at that time, so that most steps can succeed, and a shrunk run still makes sense.

import fc from 'fast-check'
import type { Hex } from '../../../src/protocol/hex.js'
import { AAPL, DAY, MSFT, USDC, usd } from '../institution.js'

/** Alice, Bob and Dave are members, Carol is in no institution; Dave has no KYC at first. */
export const WALLETS = ['alice', 'bob', 'carol', 'dave'] as const
export type Wallet = (typeof WALLETS)[number]
export const SYMBOLS = [AAPL, MSFT] as const

/** Added to the right version, batch or supply: mostly nothing. */
type Off = bigint
/** Which of the orders so far: of all of them, or of those that are open; modulo their number. -1 is the newest. */
export interface Pick {
  among: 'all' | 'open'
  index: number
}
/** The part of an authorization that differs from the chain; mostly null. `payout`: a unit more than is due, without an asset too. */
export type Wrong = 'account' | 'asset' | 'amount' | 'commit' | 'previous' | 'payout' | null
/** Which of the claims that there are, modulo their number; without any, that wallet's in that asset. */
export interface ClaimPick {
  index: number
  wallet: Wallet
  asset: Hex
}
/** A share of what the payer holds; more than 100 is more than it has. */
type Percent = bigint

export type Action =
  | { kind: 'openBuy'; wallet: Wallet; amount: bigint; lifetime: number; reuse: boolean; pick: Pick }
  | {
      kind: 'openDeposit'
      /** Which of the holdings there are, modulo their number; without any, that wallet's of that symbol. */
      index: number
      symbol: Hex
      percent: Percent
      wallet: Wallet
      lifetime: number
      reuse: boolean
      pick: Pick
    }
  | { kind: 'openRequest'; wallet: Wallet; lifetime: number; reuse: boolean; pick: Pick }
  | ({ kind: 'openBuyFor'; amount: bigint } & SignedStep)
  | ({ kind: 'openRequestFor' } & SignedStep)
  | { kind: 'settle'; pick: Pick; asset: Hex | null; percent: Percent; off: Off; wrong: Wrong }
  | { kind: 'refund'; pick: Pick; blobs: boolean; off: Off; wrong: Wrong }
  | { kind: 'reclaim'; pick: Pick; by: Wallet | 'account' }
  | { kind: 'mint' | 'burn'; symbol: Hex; amount: bigint; batchOff: Off; supplyOff: Off }
  | { kind: 'replay'; pick: Pick }
  | { kind: 'transfer'; symbol: Hex; from: Wallet; to: Wallet | 'pool'; percent: Percent }
  | { kind: 'fund'; wallet: Wallet; amount: bigint }
  | { kind: 'treasury'; percent: Percent }
  | { kind: 'kyc'; wallet: Wallet; on: boolean }
  | { kind: 'freeze'; symbol: Hex; wallet: Wallet; on: boolean }
  | { kind: 'list'; symbol: Hex; on: boolean }
  | { kind: 'blacklist'; wallet: Wallet; on: boolean }
  | { kind: 'claim'; of: ClaimPick; to: Wallet | 'account' | 'approved' }
  | { kind: 'approve'; of: ClaimPick; to: Wallet }
  | { kind: 'gift'; wallet: Wallet; amount: bigint }
  | { kind: 'sweep' | 'pause' | 'liftPause' }

export type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>

/** An opening that the wallet signs, unless another one signs it, and that the relayer sends, now and then too late. */
interface SignedStep {
  wallet: Wallet
  lifetime: number
  reuse: boolean
  pick: Pick
  isForged: boolean
  isExpired: boolean
}

/** An action, and how long after the step before; 0 is the same block. */
export interface Step {
  action: Action
  elapsed: number
}

const wallet = fc.constantFrom<Wallet>('alice', 'alice', 'alice', 'bob', 'bob', 'bob', 'carol', 'dave')
const symbol = fc.constantFrom(...SYMBOLS)
const among = fc.constantFrom<Pick['among']>('open', 'open', 'open', 'all')
const pick = fc.record({ among, index: fc.nat({ max: 30 }) })
const mostly = fc.constantFrom(true, true, true, false)
const rarely = fc.constantFrom(false, false, false, true)
const percent = fc.bigInt({ min: 0n, max: 110n })
const seldom = fc.oneof(
  { weight: 19, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
)
const off = fc.oneof(
  { weight: 18, arbitrary: fc.constant(0n) },
  { weight: 2, arbitrary: fc.constantFrom(-1n, 1n) },
)
const amount = fc.bigInt({ min: 0n, max: usd(600) })
const lifetime = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 2 * DAY }) },
  { weight: 6, arbitrary: fc.integer({ min: 2 * DAY, max: 30 * DAY }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 30 * DAY + 1) },
)
const asset = fc.constantFrom(null, null, USDC, ...SYMBOLS)
const claimPick = fc.record({
  index: fc.nat({ max: 10 }),
  wallet,
  asset: fc.constantFrom(USDC, USDC, ...SYMBOLS),
})
const wrong = fc.oneof(
  { weight: 14, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Wrong>('account', 'asset', 'amount', 'commit', 'previous', 'payout'),
  },
)
const batch = { symbol, amount: fc.bigInt({ min: 0n, max: 100n * 10n ** 9n }), batchOff: off, supplyOff: off }

const signedStep = { wallet, lifetime, reuse: seldom, pick, isForged: seldom, isExpired: seldom }

const kind = <K extends string>(name: K) => fc.constant(name)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: kind('openBuy'), wallet, amount, lifetime, reuse: seldom, pick }),
  },
  { weight: 7, arbitrary: fc.record({ kind: kind('openRequest'), wallet, lifetime, reuse: seldom, pick }) },
  {
    weight: 12,
    arbitrary: fc.record({
      ...{ kind: kind('openDeposit'), index: fc.nat({ max: 10 }), wallet, symbol, percent },
      ...{ lifetime, reuse: seldom, pick },
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: kind('openBuyFor'), amount, ...signedStep }) },
  { weight: 6, arbitrary: fc.record({ kind: kind('openRequestFor'), ...signedStep }) },
  { weight: 18, arbitrary: fc.record({ kind: kind('settle'), pick, asset, percent, off, wrong }) },
  { weight: 8, arbitrary: fc.record({ kind: kind('refund'), pick, blobs: fc.boolean(), off, wrong }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: kind('reclaim'),
      pick,
      by: fc.oneof({ weight: 4, arbitrary: kind('account') }, { weight: 1, arbitrary: wallet }),
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: kind('mint'), ...batch }) },
  { weight: 7, arbitrary: fc.record({ kind: kind('burn'), ...batch }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('replay'), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kind('transfer'),
      symbol,
      from: wallet,
      to: fc.constantFrom<Wallet | 'pool'>(...WALLETS, 'pool'),
      percent,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('fund'), wallet, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('treasury'), percent }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('kyc'), wallet, on: mostly }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('freeze'), symbol, wallet, on: rarely }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('list'), symbol, on: mostly }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('blacklist'), wallet, on: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kind('claim'),
      of: claimPick,
      to: fc.oneof(
        { weight: 3, arbitrary: kind('account') },
        { weight: 2, arbitrary: kind('approved') },
        { weight: 1, arbitrary: wallet },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('approve'), of: claimPick, to: wallet }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('gift'), wallet, amount }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('pause') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('liftPause') }) },
)

// Several steps share a block; some blocks are so late that orders can be reclaimed.
const elapsed = fc.oneof(
  { weight: 30, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: DAY }) },
  { weight: 3, arbitrary: fc.integer({ min: 6 * DAY, max: 9 * DAY }) },
  { weight: 1, arbitrary: fc.integer({ min: 20 * DAY, max: 40 * DAY }) },
)

const newest = (among: Pick['among']): Pick => ({ among, index: -1 })
const exact = { off: 0n, wrong: null } as const
const plain = { wallet: 'alice', lifetime: DAY, reuse: false } as const
const freeze = (on: boolean) => ({ kind: 'freeze', symbol: AAPL, wallet: 'alice', on }) as const
const blacklist = (on: boolean) => ({ kind: 'blacklist', wallet: 'alice', on }) as const
const clear = (on: boolean) => ({ kind: 'kyc', wallet: 'alice', on }) as const
const refundNewest = { kind: 'refund', pick: newest('open'), blobs: true, ...exact } as const
const settleNewest = { kind: 'settle', pick: newest('open'), asset: null, percent: 0n, ...exact } as const
/** Alice's shares of AAPL are the first of all holdings, and her claims the first of all claims. */
const holdShares: readonly Action[] = [
  freeze(false),
  clear(true),
  { kind: 'mint', symbol: AAPL, amount: 10n ** 10n, batchOff: 0n, supplyOff: 0n },
  { kind: 'openRequest', ...plain, pick: newest('all') },
  { ...settleNewest, asset: AAPL, percent: 50n },
]
const deposit: Extract<Action, { kind: 'openDeposit' }> = {
  kind: 'openDeposit',
  index: 0,
  symbol: AAPL,
  percent: 50n,
  pick: newest('all'),
  ...plain,
}
const claim = (to: 'account' | 'approved' | Wallet): Action => ({
  ...{ kind: 'claim', of: { index: 0, wallet: 'alice', asset: AAPL }, to },
})
const approval: Action = { kind: 'approve', of: { index: 0, wallet: 'alice', asset: AAPL }, to: 'bob' }
/** Steps in a row that single steps seldom make. */
const scenes: readonly (readonly Action[])[] = [
  [...holdShares, freeze(true), deposit, freeze(false), clear(false), deposit, clear(true)],
  [...holdShares, { ...deposit, reuse: true }, { kind: 'pause' }, deposit, { kind: 'liftPause' }],
  [
    ...holdShares,
    deposit,
    { ...settleNewest, wrong: 'amount' },
    freeze(true),
    settleNewest,
    { ...settleNewest, pick: newest('all') },
  ],
  [
    ...holdShares,
    deposit,
    freeze(true),
    { ...refundNewest, wrong: 'previous' },
    refundNewest,
    claim('account'),
    claim('bob'),
  ],
  [...holdShares, deposit, freeze(true), refundNewest, freeze(false), approval, claim('approved')],
  [...holdShares, deposit, freeze(true), refundNewest, freeze(false), claim('account')],
  [
    ...holdShares,
    deposit,
    freeze(true),
    { kind: 'reclaim', pick: newest('open'), by: 'account' },
    freeze(false),
  ],
  [
    { kind: 'fund', wallet: 'bob', amount: usd(10) },
    { kind: 'openRequest', ...plain, pick: newest('all') },
    blacklist(true),
    { ...settleNewest, asset: USDC, percent: 50n },
    claim('account'),
    blacklist(false),
    claim('account'),
  ],
  [
    ...holdShares,
    { kind: 'openRequest', ...plain, pick: newest('all') },
    freeze(true),
    { ...settleNewest, asset: AAPL, percent: 50n },
    freeze(false),
  ],
]
const scene = fc
  .constantFrom(...scenes)
  .map((actions) => actions.map((one) => ({ action: one, elapsed: one.kind === 'reclaim' ? 8 * DAY : 0 })))
const one = fc.record({ action, elapsed }).map((step): Step[] => [step])
const part = fc.oneof({ weight: 40, arbitrary: one }, { weight: 1, arbitrary: scene })
const STEPS = 50

/** Fifty steps. */
export const sequence: fc.Arbitrary<Step[]> = fc
  .array(part, { minLength: STEPS, maxLength: STEPS })
  .map((parts) => parts.flat().slice(0, STEPS))
