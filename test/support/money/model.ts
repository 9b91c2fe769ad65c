// The reference model: what a step sends to the chain, and what should come of it.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import {
  type BoundOrder,
  batchBurn,
  batchMint,
  type Call,
  digestOf,
  refund,
  settlement,
  signedCall,
} from '../authorizations.js'
import { type ContractKey, TEST_DELAYS, type TestChain } from '../chain.js'
import { AAPL, DAY, MSFT, USDC, ZERO_BYTES32 } from '../institution.js'
import { keyOf, signOpening } from '../openings.js'
import {
  type Attempt,
  cleared,
  isPaused,
  type Outcome,
  receiveRefusal,
  relay,
  returnEscrow,
} from './authorized.js'
import { createClaiming } from './claiming.js'
import { balanceOf, type ModelOrder, type ModelState, move, portfolioOf } from './state.js'
import { type Action, type ActionOf, type Pick, SYMBOLS, WALLETS, type Wallet, type Wrong } from './steps.js'

type SignedOpening = ActionOf<'openBuyFor' | 'openRequestFor'>
type Opening = ActionOf<'openBuy' | 'openDeposit' | 'openRequest'> | SignedOpening
const MEMBERS: readonly Wallet[] = ['alice', 'bob', 'dave']
const SHARES: Readonly<Record<Hex, ContractKey>> = { [AAPL]: 'aapl', [MSFT]: 'msft' }
const COMMIT: Hex = `0x${'cc'.repeat(32)}`
const OTHER: Hex = `0x${'dd'.repeat(32)}`
/** An order that was never opened. */
const NEVER: BoundOrder = {
  orderId: ZERO_BYTES32,
  account: `0x${'00'.repeat(20)}`,
  asset: ZERO_BYTES32,
  amount: 0n,
  commit: ZERO_BYTES32,
}

export function createModel(chain: TestChain, state: ModelState) {
  // Signatures are deterministic: one authorization is signed once, however often it is sent.
  const signed = new Map<Authorization, { call: Call; digest: Hex }>()
  let opened = 0
  const { claim, approve, blacklist, gift, sweep } = createClaiming(chain, state)

  function authorized(authorization: Authorization): Attempt {
    const known = signed.get(authorization) ?? {
      digest: digestOf(chain, authorization),
      call: signedCall(chain, authorization),
    }
    signed.set(authorization, known)
    state.relayed.push(authorization)
    return { from: 'relayer', call: known.call, expected: relay(state, authorization, known.digest) }
  }

  function freshId(reuse: boolean, pick: Pick): Hex {
    const used = picked(state, pick)
    if (reuse && used) return `0x${used.bound.orderId.slice(2, 34)}${'ff'.repeat(16)}`
    opened += 1
    return `0x${opened.toString(16).padStart(32, '0')}${'00'.repeat(16)}`
  }

  function open(action: Opening): Attempt {
    const orderId = freshId(action.reuse, action.pick)
    const deadline = state.time + action.lifetime
    const { wallet } = action
    const { asset, amount } = escrowFor(state, action)
    const expected = openRefusal(state, action, { orderId, amount })
    if (expected === null) {
      const bound = { orderId, account: chain.account(wallet), asset, amount, commit: COMMIT }
      state.orders.push({ bound, account: wallet, deadline, open: true })
      if (amount > 0n) move(state, asset, wallet, 'escrow', amount)
    }
    if ('isForged' in action) {
      return { from: 'relayer', call: signedOpening(action, { orderId, amount, deadline }), expected }
    }
    const args = {
      openBuy: [amount, deadline],
      openDeposit: [asset, amount, deadline],
      openRequest: [deadline],
    }[action.kind]
    return { from: wallet, call: ['escrow', action.kind, orderId, COMMIT, ...args], expected }
  }

  function signedOpening(
    { kind, wallet, isForged, isExpired }: SignedOpening,
    order: { orderId: Hex; amount: bigint; deadline: number },
  ): Attempt['call'] {
    const validBefore = state.time + (isExpired ? 0 : 1)
    const account = chain.account(wallet)
    const key = keyOf(chain, isForged ? 'relayer' : wallet)
    const signature = signOpening(chain, { ...order, account, commit: COMMIT, validBefore }, { key })
    const { orderId, amount, deadline } = order
    // By its kind: also a buy of nothing, which is refused.
    const rest = kind === 'openBuyFor' ? [amount, deadline, validBefore] : [deadline, validBefore]
    return ['escrow', kind, [account, orderId, COMMIT, ...rest], signature]
  }

  /** The order that a pick means and its portfolio, all as the chain has it but for what is wrong. */
  function target(pick: Pick, wrong: Wrong) {
    const order = picked(state, pick)
    const bound = order?.bound ?? NEVER
    const { version, hash } = order ? portfolioOf(state, order.account) : { version: 0n, hash: ZERO_BYTES32 }
    const named = { ...bound, ...(wrong === 'commit' && { commit: OTHER }) }
    if (wrong === 'account') named.account = chain.account('relayer')
    if (wrong === 'asset') named.asset = OTHER
    if (wrong === 'amount') named.amount += 1n
    return { order: named, version, previous: wrong === 'previous' ? OTHER : hash }
  }

  function settle({ pick, asset, percent, off, wrong }: ActionOf<'settle'>): Attempt {
    const { order, version, previous } = target(pick, wrong)
    const due = asset ? (balanceOf(state, asset, 'pool') * percent) / 100n : 0n
    const payout = wrong === 'payout' ? due + 1n : due
    // An asset with nothing to pay is a malformed payout: now and then only, and not whenever the pool is empty.
    const payoutAsset = asset && (due > 0n || percent === 0n) ? asset : ZERO_BYTES32
    const next = { version: atLeast0(version + 1n + off), previous }
    return authorized(settlement(order, { payoutAsset, payout, ...next }))
  }

  function refundOrder({ pick, blobs, off, wrong }: ActionOf<'refund'>): Attempt {
    const { order, version, previous } = target(pick, wrong)
    const written = { version: atLeast0(version + 1n + off), previous }
    const empty = { version: atLeast0(version + off), previous, enclaveBlob: '0x', userBlob: '0x' } as const
    return authorized(refund(order, blobs ? written : empty))
  }

  function batch({ kind, symbol, amount, batchOff, supplyOff }: ActionOf<'mint' | 'burn'>): Attempt {
    const expectedSupply = atLeast0((state.supply.get(symbol) ?? 0n) + supplyOff)
    const batch = (state.batches.get(symbol) ?? 0n) + 1n + batchOff
    return authorized((kind === 'mint' ? batchMint : batchBurn)(symbol, amount, { expectedSupply, batch }))
  }

  function reclaim({ pick, by }: ActionOf<'reclaim'>): Attempt {
    const order = picked(state, pick)
    const caller = by === 'account' ? (order?.account ?? 'alice') : by
    const call: Attempt['call'] = ['escrow', 'reclaim', order?.bound.orderId ?? ZERO_BYTES32]
    if (!order?.open) return { from: caller, call, expected: 'OrderNotOpen' }
    if (caller !== order.account) return { from: caller, call, expected: 'NotOrderAccount' }
    if (state.time < order.deadline + 7 * DAY) return { from: caller, call, expected: 'ReclaimTooEarly' }
    order.open = false
    returnEscrow(state, order)
    return { from: caller, call, expected: null }
  }

  function transfer({ symbol, from, to, percent }: ActionOf<'transfer'>): Attempt {
    const holding = balanceOf(state, symbol, from)
    const amount = (holding * percent) / 100n
    const receiver = to === 'pool' ? chain.addressOf('pool') : chain.account(to)
    const expected =
      cleared(state, symbol, from) ??
      (to === 'pool' ? null : cleared(state, symbol, to)) ??
      (to !== 'pool' && !state.listed.has(symbol) ? 'NotListed' : null) ??
      (amount > holding ? 'ERC20InsufficientBalance' : null)
    if (expected === null) move(state, symbol, from, to, amount)
    return { from, call: [SHARES[symbol] ?? 'aapl', 'transfer', receiver, amount], expected }
  }

  function fund({ wallet, amount }: ActionOf<'fund'>): Attempt {
    const short = amount > balanceOf(state, USDC, wallet) ? 'ERC20InsufficientBalance' : null
    const expected = amount === 0n ? 'ZeroAmount' : (receiveRefusal(state, USDC, wallet) ?? short)
    if (expected === null) move(state, USDC, wallet, 'pool', amount)
    return { from: wallet, call: ['pool', 'fund', amount], expected }
  }

  function treasury({ percent }: ActionOf<'treasury'>): Attempt {
    const holding = balanceOf(state, USDC, 'pool')
    const amount = (holding * percent) / 100n
    const expected = amount === 0n ? 'ZeroAmount' : amount > holding ? 'PoolShort' : null
    if (expected === null) move(state, USDC, 'pool', 'broker', amount)
    return { from: 'owner', call: ['pool', 'transferTreasury', amount], expected }
  }

  function flag(action: ActionOf<'kyc' | 'freeze' | 'list'>): Attempt {
    const set = (flags: Set<unknown>, key: unknown) => (action.on ? flags.add(key) : flags.delete(key))
    if (action.kind === 'list') {
      set(state.listed, action.symbol)
      return { from: 'owner', call: ['token', 'setListed', action.symbol, action.on], expected: null }
    }
    const wallet = chain.account(action.wallet)
    if (action.kind === 'kyc') {
      set(state.kyc, action.wallet)
      return { from: 'owner', call: ['token', 'setKyc', wallet, action.on], expected: null }
    }
    set(state.frozen, `${action.symbol} ${action.wallet}`)
    return { from: 'owner', call: ['token', 'setFrozen', action.symbol, wallet, action.on], expected: null }
  }

  function pause(): Attempt {
    const early = state.pausedUntil > 0 && state.time < state.pausedUntil + 30 * DAY
    if (!early) state.pausedUntil = state.time + TEST_DELAYS.pause
    return { from: 'guardian', call: ['authority', 'pause'], expected: early ? 'PauseTooEarly' : null }
  }

  function liftPause(): Attempt {
    const expected = isPaused(state) ? null : 'NotPaused'
    if (expected === null) state.pausedUntil = 0
    return { from: 'owner', call: ['authority', 'liftPause'], expected }
  }

  function replay({ pick }: ActionOf<'replay'>): Attempt {
    const authorization = state.relayed[pick.index % Math.max(1, state.relayed.length)]
    return authorized(authorization ?? settlement(NEVER))
  }

  /** Applies one action at `state.time`. */
  return function apply(action: Action): Attempt {
    switch (action.kind) {
      case 'openDeposit':
        return open({ ...action, ...holdingOf(state, action) })
      case 'openBuy':
      case 'openRequest':
      case 'openBuyFor':
      case 'openRequestFor':
        return open(action)
      case 'settle':
        return settle(action)
      case 'refund':
        return refundOrder(action)
      case 'reclaim':
        return reclaim(action)
      case 'mint':
      case 'burn':
        return batch(action)
      case 'replay':
        return replay(action)
      case 'transfer':
        return transfer(action)
      case 'fund':
        return fund(action)
      case 'treasury':
        return treasury(action)
      case 'claim':
        return claim(action)
      case 'approve':
        return approve(action)
      case 'blacklist':
        return blacklist(action)
      case 'gift':
        return gift(action)
      case 'sweep':
        return sweep()
      case 'pause':
        return pause()
      case 'liftPause':
        return liftPause()
      default:
        return flag(action)
    }
  }
}

/** The wallet and the symbol that a deposit means. */
function holdingOf(
  state: ModelState,
  { index, wallet, symbol }: ActionOf<'openDeposit'>,
): { wallet: Wallet; symbol: Hex } {
  const holdings = WALLETS.flatMap((owner) =>
    SYMBOLS.filter((held) => balanceOf(state, held, owner) > 0n).map((held) => ({
      wallet: owner,
      symbol: held,
    })),
  )
  return holdings[index % Math.max(1, holdings.length)] ?? { wallet, symbol }
}

/** The asset and the amount that an opening takes into escrow; the asset as authorizations name it. */
function escrowFor(state: ModelState, action: Opening): { asset: Hex; amount: bigint } {
  if (action.kind === 'openDeposit') {
    const { symbol: asset, wallet, percent } = action
    return { asset, amount: (balanceOf(state, asset, wallet) * percent) / 100n }
  }
  const amount = 'amount' in action ? action.amount : 0n
  return { asset: amount === 0n ? ZERO_BYTES32 : USDC, amount }
}

function openRefusal(
  state: ModelState,
  action: Opening,
  { orderId, amount }: { orderId: Hex; amount: bigint },
): Outcome {
  const { wallet, lifetime } = action
  const buys = 'amount' in action
  const deposited = action.kind === 'openDeposit' ? action.symbol : undefined
  const signed = 'isForged' in action ? action : undefined
  if (signed?.isExpired) return 'OpeningExpired'
  if ((buys || deposited) && amount === 0n) return 'ZeroAmount'
  if (buys && !MEMBERS.includes(wallet)) return 'NotAdmitted'
  // USDC checks the signature of a buy, at the end.
  if (!buys && signed?.isForged) return 'NotSignedByAccount'
  if (isPaused(state)) return 'PlatformPaused'
  if (!state.kyc.has(wallet)) return 'NotCleared'
  if (lifetime <= 0 || lifetime > 30 * DAY) return 'DeadlineOutOfRange'
  const open = state.orders.filter((order) => order.open && order.account === wallet)
  if (open.length >= 20) return 'TooManyOpenOrders'
  const taken = state.orders.some(({ bound }) => bound.orderId.slice(0, 34) === orderId.slice(0, 34))
  if (taken) return 'OrderIdTaken'
  const held = balanceOf(state, deposited ?? USDC, wallet)
  const short = amount > held ? 'ERC20InsufficientBalance' : null
  if (deposited) return cleared(state, deposited, wallet) ?? short
  if (!buys) return null
  if (signed?.isForged) return 'ERC3009InvalidSignature'
  return receiveRefusal(state, USDC, wallet) ?? short
}

function picked({ orders }: ModelState, { among, index }: Pick): ModelOrder | undefined {
  const choice = among === 'all' ? orders : orders.filter((order) => order.open)
  return choice.at(index % Math.max(1, choice.length))
}

function atLeast0(value: bigint): bigint {
  return value < 0n ? 0n : value
}
