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

const weighed = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const wallet = fc.constantFrom<Wallet>('alice', 'alice', 'alice', 'bob', 'bob', 'bob', 'carol', 'dave')
const symbol = fc.constantFrom(...SYMBOLS)
const among = fc.constantFrom<Pick['among']>('open', 'open', 'open', 'all')
const pick = fc.record({ among, index: fc.nat({ max: 30 }) })
const mostly = fc.constantFrom(true, true, true, false)
const rarely = fc.constantFrom(false, false, false, true)
const percent = fc.bigInt({ min: 0n, max: 110n })
const seldom = fc.oneof(weighed(19, fc.constant(false)), weighed(1, fc.constant(true)))
const off = fc.oneof(weighed(18, fc.constant(0n)), weighed(2, fc.constantFrom(-1n, 1n)))
const amount = fc.bigInt({ min: 0n, max: usd(600) })
const lifetime = fc.oneof(
  weighed(6, fc.integer({ min: 1, max: 2 * DAY })),
  weighed(6, fc.integer({ min: 2 * DAY, max: 30 * DAY })),
  weighed(1, fc.constantFrom(0, 30 * DAY + 1)),
)
const asset = fc.constantFrom(null, null, USDC, ...SYMBOLS)
const of = fc.record({
  index: fc.nat({ max: 10 }),
  wallet,
  asset: fc.constantFrom(USDC, USDC, ...SYMBOLS),
})
const wrong = fc.oneof(
  weighed(14, fc.constant(null)),
  weighed(1, fc.constantFrom<Wrong>('account', 'asset', 'amount', 'commit', 'previous', 'payout')),
)
const batch = { symbol, amount: fc.bigInt({ min: 0n, max: 100n * 10n ** 9n }), batchOff: off, supplyOff: off }
const opening = { wallet, lifetime, reuse: seldom, pick }
const signed = { ...opening, isForged: seldom, isExpired: seldom }
const account = fc.constant('account' as const)

function drawn<K extends Action['kind'], T>(
  weight: number,
  kind: K,
  members: { [M in keyof T]: fc.Arbitrary<T[M]> },
) {
  return { weight, arbitrary: fc.record(members).map((rest) => ({ kind, ...rest })) }
}
const action: fc.Arbitrary<Action> = fc.oneof(
  drawn(10, 'openBuy', { amount, ...opening }),
  drawn(7, 'openRequest', opening),
  drawn(12, 'openDeposit', { index: fc.nat({ max: 10 }), symbol, percent, ...opening }),
  drawn(8, 'openBuyFor', { amount, ...signed }),
  drawn(6, 'openRequestFor', signed),
  drawn(18, 'settle', { pick, asset, percent, off, wrong }),
  drawn(8, 'refund', { pick, blobs: fc.boolean(), off, wrong }),
  drawn(10, 'reclaim', { pick, by: fc.oneof(weighed(4, account), weighed(1, wallet)) }),
  drawn(10, 'mint', batch),
  drawn(7, 'burn', batch),
  drawn(4, 'replay', { pick }),
  drawn(6, 'transfer', {
    ...{ symbol, from: wallet, percent },
    to: fc.constantFrom<Wallet | 'pool'>(...WALLETS, 'pool'),
  }),
  drawn(3, 'fund', { wallet, amount }),
  drawn(3, 'treasury', { percent }),
  drawn(3, 'kyc', { wallet, on: mostly }),
  drawn(3, 'freeze', { symbol, wallet, on: rarely }),
  drawn(2, 'list', { symbol, on: mostly }),
  drawn(5, 'blacklist', { wallet, on: fc.boolean() }),
  drawn(8, 'claim', {
    of,
    to: fc.oneof(weighed(3, account), weighed(2, fc.constant('approved' as const)), weighed(1, wallet)),
  }),
  drawn(3, 'approve', { of, to: wallet }),
  drawn(2, 'gift', { wallet, amount }),
  drawn(2, 'sweep', {}),
  drawn(1, 'pause', {}),
  drawn(1, 'liftPause', {}),
)

// Several steps share a block; some blocks are so late that orders can be reclaimed.
const elapsed = fc.oneof(
  weighed(30, fc.constant(0)),
  weighed(2, fc.integer({ min: 1, max: DAY })),
  weighed(3, fc.integer({ min: 6 * DAY, max: 9 * DAY })),
  weighed(1, fc.integer({ min: 20 * DAY, max: 40 * DAY })),
)

const newest = (among: Pick['among']): Pick => ({ among, index: -1 })
const exact = { off: 0n, wrong: null } as const
const plain = { wallet: 'alice', lifetime: DAY, reuse: false } as const
const freeze = (on: boolean) => ({ kind: 'freeze', symbol: AAPL, wallet: 'alice', on }) as const
const blacklist = (on: boolean) => ({ kind: 'blacklist', wallet: 'alice', on }) as const
const clear = (on: boolean, wallet: Wallet = 'alice') => ({ kind: 'kyc', wallet, on }) as const
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
  [
    ...[...holdShares, deposit, freeze(true), refundNewest, freeze(false), approval],
    ...[clear(false, 'bob'), claim('approved'), clear(true, 'bob'), claim('approved')],
  ],
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
const part = fc.oneof(weighed(40, one), weighed(1, scene))
const STEPS = 50

/** Fifty steps. */
export const sequence: fc.Arbitrary<Step[]> = fc
  .array(part, { minLength: STEPS, maxLength: STEPS })
  .map((parts) => parts.flat().slice(0, STEPS))
