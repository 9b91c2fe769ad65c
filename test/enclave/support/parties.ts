// The parties of the enclave's tests: keys, an institution, a rulebook, and their envelopes and signatures.
import * as z from 'zod'
import { createKeys } from '../../../src/enclave/keys/keys.js'
import { cancelIntentDigest, sealCancel } from '../../../src/protocol/cancelIntent.js'
import { commitOf, type Envelope, seal } from '../../../src/protocol/envelope.js'
import { type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { clientOrderIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import {
  intentDigest,
  intentSchema,
  LIMIT_INTENT_VERSION,
  type UnsignedIntent,
} from '../../../src/protocol/intent.js'
import type { Limit, Side } from '../../../src/protocol/orderTerms.js'
import type { Policy } from '../../../src/protocol/policy.js'
import {
  policyIntentDigest,
  rulebookSchema,
  type UnsignedRulebook,
} from '../../../src/protocol/policyIntent.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import {
  type MoveResolution,
  type NonceResolution,
  type OrderResolution,
  resolutionDigest,
  sealResolution,
} from '../../../src/protocol/resolution.js'
import { signDigest } from '../../../src/protocol/signDigest.js'
import { Secret } from '../../../src/service/secret.js'
import type { TestChain } from '../../support/chain.js'
import { keyOf } from '../../support/openings.js'
import { ENCLAVE_KEY, type Role } from '../../support/roles.js'

export const ORG_ID = nameToBytes32('Example Capital')
export const KEYS = {
  master: `0x${'a7'.repeat(32)}` as Hex,
  intent: `0x${'b2'.repeat(32)}` as Hex,
  signing: ENCLAVE_KEY,
}
/** What an enclave does with them. */
export const ENCLAVE_KEYS = createKeys({
  master: new Secret(KEYS.master),
  intent: new Secret(KEYS.intent),
  signing: new Secret(KEYS.signing),
})
export const INTENT_PUBKEY = publicKeyOf(hexToBytes(KEYS.intent))
/** Any key will do for a portfolio. */
export const USER_KEY = hexToBytes(`0x${'c3'.repeat(32)}`)
export const USER_PUBKEY = publicKeyOf(USER_KEY)

const EMPTY = new Uint8Array()

function domainOf({ anvil, addresses }: TestChain) {
  return { chainId: anvil.chainId, escrow: addresses.orderEscrow }
}

/** A role's key, or how something else signs a digest. */
type Signer = Role | ((digest: Hex) => Hex)

function signatureBy(chain: TestChain, signer: Signer, digest: Hex): Hex {
  return typeof signer === 'function' ? signer(digest) : signDigest(digest, keyOf(chain, signer))
}

/** An order in short; the rest is filled in. */
export interface Wish {
  who: Role
  side: Side
  symbol: string
  /** USDC base units; share base units in a withdrawal of shares. */
  amount: bigint
  /** USDC base units to escrow: for a BUY out of the wallet. */
  escrow?: bigint
  /** Shares to escrow instead, of this symbol: a deposit. The wallet approves them first. */
  shares?: { symbol: string; amount: bigint }
  /** Seconds from now. */
  deadlineIn?: number
  /** Instead of a fresh one. */
  orderId?: Hex
  /** Changes the intent before it is signed. */
  change?: Partial<MarketIntent>
  /** Makes it a limit order. */
  limit?: Limit | undefined
  /** Signs with another role's key, or as a contract wallet takes it. */
  signedBy?: Signer
  /** Seals something else than an intent. */
  plaintext?: unknown
}

/** An order on chain with its envelope. */
export interface OpenedOrder {
  who: Role
  orderId: Hex
  clientOrderId: string
  envelope: Envelope
  deadline: number
  escrow: bigint
}

type MarketIntent = Extract<UnsignedIntent, { v: 1 }>

function limited(intent: MarketIntent, { price: limitPrice, timeInForce }: Limit): UnsignedIntent {
  const { side } = intent
  if (side !== 'BUY' && side !== 'SELL') throw new TypeError('only a trade has a limit')
  return { ...intent, v: LIMIT_INTENT_VERSION, side, limitPrice, timeInForce }
}

/** The last nonce; orderIds follow from it. */
let counter = 0

/** Signs and seals an intent and opens its escrow. */
export async function openOrder(chain: TestChain, wish: Wish): Promise<OpenedOrder> {
  const { who, side, symbol, amount, escrow = 0n } = wish
  const nonce = ++counter
  const orderId: Hex = wish.orderId ?? `0x${nonce.toString(16).padStart(32, '0').repeat(2)}`
  const deadline = (await chain.now()) + (wish.deadlineIn ?? 3_600)
  const market: MarketIntent = {
    v: 1,
    orderId,
    account: chain.account(who),
    orgId: ORG_ID,
    side,
    symbol,
    maxSpend: amount,
    expiry: deadline,
    nonce,
    userPubKey: USER_PUBKEY,
    ...wish.change,
  }
  const unsigned = wish.limit ? limited(market, wish.limit) : market
  const sig = signatureBy(chain, wish.signedBy ?? who, intentDigest(unsigned, domainOf(chain)))
  const plaintext = wish.plaintext ?? z.encode(intentSchema, { ...unsigned, sig })
  const envelope = await seal(plaintext, INTENT_PUBKEY, { kind: 'order', context: EMPTY })
  const commit = commitOf(envelope)
  if (wish.shares) {
    const { symbol: held, amount: deposited } = wish.shares
    const token = held === 'MSFT' ? 'msft' : 'aapl'
    await chain.send(who, token, 'approve', chain.addresses.orderEscrow, deposited)
    const args = [orderId, commit, nameToBytes32(held), deposited, deadline]
    await chain.send(who, 'escrow', 'openDeposit', ...args)
  } else if (escrow > 0n) await chain.send(who, 'escrow', 'openBuy', orderId, commit, escrow, deadline)
  else await chain.send(who, 'escrow', 'openRequest', orderId, commit, deadline)
  return { who, orderId, clientOrderId: clientOrderIdOf(orderId), envelope, deadline, escrow }
}

/** Signs and seals a cancel of an order, by another role's key where one is named. */
export function cancelOf(
  chain: TestChain,
  { orderId, who }: Pick<OpenedOrder, 'orderId' | 'who'>,
  signedBy: Signer = who,
): Promise<Envelope> {
  const order = { orderId, account: chain.account(who) }
  const sig = signatureBy(chain, signedBy, cancelIntentDigest(order, domainOf(chain)))
  return sealCancel({ ...order, sig }, INTENT_PUBKEY, domainOf(chain))
}

/** What the owner decides, for an hour unless it says otherwise. */
export type Decision = Lasting<OrderResolution> | Lasting<NonceResolution> | Lasting<MoveResolution>
type Lasting<T> = Omit<T, 'validBefore'> & { validBefore?: number }

/** Signs and seals what the owner decides, by another role's key where one is named. */
export async function resolutionOf(
  chain: TestChain,
  decision: Decision,
  signedBy: Role = 'owner',
): Promise<Envelope> {
  const unsigned = { validBefore: (await chain.now()) + 3_600, ...decision }
  const sig = signDigest(resolutionDigest(unsigned, domainOf(chain)), keyOf(chain, signedBy))
  return sealResolution({ ...unsigned, sig }, INTENT_PUBKEY, domainOf(chain))
}

/** Signs and seals a rulebook. */
export async function sealRulebook(
  chain: TestChain,
  policy: Policy,
  version: number,
  change: Partial<UnsignedRulebook> = {},
  signedBy: Signer = 'admin',
): Promise<Envelope> {
  const unsigned: UnsignedRulebook = {
    v: 1,
    orgId: ORG_ID,
    admin: chain.account('admin'),
    policy,
    version,
    ...change,
  }
  const sig = signatureBy(chain, signedBy, policyIntentDigest(unsigned, domainOf(chain)))
  return seal(z.encode(rulebookSchema, { ...unsigned, sig }), INTENT_PUBKEY, {
    kind: 'policy',
    context: EMPTY,
  })
}

/** A rulebook that lets alice and bob trade all but TSLA. */
export function rulesFor(chain: TestChain, change: Partial<Policy> = {}): Policy {
  const rules = { canBuy: true, canSell: true, restricted: ['TSLA'] }
  return {
    employees: {
      [chain.account('alice').toLowerCase()]: rules,
      [chain.account('bob').toLowerCase()]: rules,
    },
    maxOrderNotional: 10_000_000_000n,
    allowWithdrawShares: true,
    ...change,
  }
}
