// The reference model: what a step sends to the chain, and what should come of it.

import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { batchBurn, batchMint, type Call, callWith, refund, settlement } from '../authorizations.js'
import type { ContractKey, TestChain } from '../chain.js'
import { DAY, USDC, ZERO_BYTES32 } from '../institution.js'
import { ENCLAVE_KEY, type Role } from '../roles.js'
import { cleared, type Outcome, relay, versionOf } from './authorized.js'
import type { createDigests } from './digests.js'
import { createFixedNonceSigner } from './fixedNonce.js'
import { balanceOf, type ModelOrder, type ModelState, move } from './state.js'
import type { Action, Pick, Wallet } from './steps.js'

/** A transaction and the revert that it should end in, null for success. */
export interface Attempt {
  from: Role
  call: [contract: ContractKey, method: string, ...args: unknown[]]
  expected: Outcome
}

type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>
const MEMBERS: readonly Wallet[] = ['alice', 'bob', 'dave']
const signDigest = createFixedNonceSigner(ENCLAVE_KEY)
const COMMIT: Hex = `0x${'cc'.repeat(32)}`

export function createModel(chain: TestChain, state: ModelState, digestOf: ReturnType<typeof createDigests>) {
  // Signatures are deterministic: one authorization is signed once, however often it is sent.
  const signed = new Map<Authorization, { call: Call; digest: Hex }>()
  let opened = 0

  function sign(authorization: Authorization): { call: Call; digest: Hex } {
    const digest = digestOf(authorization)
    return { digest, call: callWith(authorization, signDigest(digest)) }
  }

  function authorized(authorization: Authorization): Attempt {
    const known = signed.get(authorization) ?? sign(authorization)
    signed.set(authorization, known)
    state.relayed.push(authorization)
    return { from: 'relayer', call: known.call, expected: relay(state, authorization, known.digest) }
  }

  function freshId(reuse: boolean, pick: Pick): Hex {
    const used = picked(state, pick)
    if (reuse && used) return `0x${used.orderId.slice(2, 34)}${'ff'.repeat(16)}`
    opened += 1
    return `0x${opened.toString(16).padStart(32, '0')}${'00'.repeat(16)}`
  }

  function open(action: ActionOf<'openBuy' | 'openRequest'>): Attempt {
    const orderId = freshId(action.reuse, action.pick)
    const deadline = state.time + action.lifetime
    const amount = action.kind === 'openBuy' ? action.amount : 0n
    const { wallet } = action
    const expected = openRefusal(state, action, orderId)
    if (expected === null) {
      state.orders.push({ orderId, account: wallet, amount, deadline, open: true })
      move(state, USDC, wallet, 'escrow', amount)
    }
    const args = action.kind === 'openBuy' ? [amount, deadline] : [deadline]
    return { from: wallet, call: ['escrow', action.kind, orderId, COMMIT, ...args], expected }
  }

  function settle({ pick, asset, percent, off }: ActionOf<'settle'>): Attempt {
    const { orderId, version } = target(state, pick)
    const payout = asset ? (balanceOf(state, asset, 'pool') * percent) / 100n : 0n
    // An asset with nothing to pay is a malformed payout: now and then only, and not whenever the pool is empty.
    const payoutAsset = asset && (payout > 0n || percent === 0n) ? asset : ZERO_BYTES32
    return authorized(settlement(orderId, { payoutAsset, payout, version: atLeast0(version + 1n + off) }))
  }

  function refundOrder({ pick, blobs, off }: ActionOf<'refund'>): Attempt {
    const { orderId, version } = target(state, pick)
    if (blobs) return authorized(refund(orderId, { version: atLeast0(version + 1n + off) }))
    const empty = { version: atLeast0(version + off), enclaveBlob: '0x', userBlob: '0x' } as const
    return authorized(refund(orderId, empty))
  }

  function batch({ kind, symbol, amount, batchOff, supplyOff }: ActionOf<'mint' | 'burn'>): Attempt {
    const expectedSupply = atLeast0((state.supply.get(symbol) ?? 0n) + supplyOff)
    const batch = (state.batches.get(symbol) ?? 0n) + 1n + batchOff
    return authorized((kind === 'mint' ? batchMint : batchBurn)(symbol, amount, { expectedSupply, batch }))
  }

  function reclaim({ pick, by }: ActionOf<'reclaim'>): Attempt {
    const order = picked(state, pick)
    const caller = by === 'account' ? (order?.account ?? 'alice') : by
    const call: Attempt['call'] = ['escrow', 'reclaim', order?.orderId ?? ZERO_BYTES32]
    if (!order?.open) return { from: caller, call, expected: 'OrderNotOpen' }
    if (caller !== order.account) return { from: caller, call, expected: 'NotOrderAccount' }
    if (state.time < order.deadline + 7 * DAY) return { from: caller, call, expected: 'ReclaimTooEarly' }
    order.open = false
    move(state, USDC, 'escrow', order.account, order.amount)
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
      (amount > holding ? 'ERC6909InsufficientBalance' : null)
    if (expected === null) move(state, symbol, from, to, amount)
    return { from, call: ['token', 'transfer', receiver, BigInt(symbol), amount], expected }
  }

  function fund({ wallet, amount }: ActionOf<'fund'>): Attempt {
    const short = amount > balanceOf(state, USDC, wallet) ? 'ERC20InsufficientBalance' : null
    const expected = amount === 0n ? 'ZeroAmount' : short
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

  function replay({ pick }: ActionOf<'replay'>): Attempt {
    const authorization = state.relayed[pick.index % Math.max(1, state.relayed.length)]
    return authorized(authorization ?? settlement(ZERO_BYTES32))
  }

  /** Applies one action at `state.time`. */
  return function apply(action: Action): Attempt {
    switch (action.kind) {
      case 'openBuy':
      case 'openRequest':
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
      default:
        return flag(action)
    }
  }
}

function openRefusal(state: ModelState, action: ActionOf<'openBuy' | 'openRequest'>, orderId: Hex): Outcome {
  const { wallet, lifetime } = action
  const buys = action.kind === 'openBuy'
  if (buys && !MEMBERS.includes(wallet)) return 'NotCleared'
  if (buys && action.amount === 0n) return 'ZeroAmount'
  if (!state.kyc.has(wallet)) return 'NotCleared'
  if (lifetime <= 0 || lifetime > 30 * DAY) return 'DeadlineOutOfRange'
  const open = state.orders.filter((order) => order.open && order.account === wallet)
  if (open.length >= 20) return 'TooManyOpenOrders'
  const taken = state.orders.some((order) => order.orderId.slice(0, 34) === orderId.slice(0, 34))
  if (taken) return 'OrderIdTaken'
  return buys && action.amount > balanceOf(state, USDC, wallet) ? 'ERC20InsufficientBalance' : null
}

function picked({ orders }: ModelState, { among, index }: Pick): ModelOrder | undefined {
  const choice = among === 'all' ? orders : orders.filter((order) => order.open)
  return choice[index % Math.max(1, choice.length)]
}

/** The order that a pick means, and its account's version; an order that nobody opened when there is none yet. */
function target(state: ModelState, pick: Pick): { orderId: Hex; version: bigint } {
  const order = picked(state, pick)
  if (!order) return { orderId: ZERO_BYTES32, version: 0n }
  return { orderId: order.orderId, version: versionOf(state, order.account) }
}

function atLeast0(value: bigint): bigint {
  return value < 0n ? 0n : value
}
