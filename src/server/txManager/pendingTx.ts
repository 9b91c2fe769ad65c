import { priceLimit } from '../../chain/fees.js'
import { sameAddress } from '../../protocol/address.js'
import type { Hex } from '../../protocol/hex.js'
import { createDeferred } from '../async/deferred.js'
import { readTransaction } from '../signer/transaction.js'
import type { KeptTransaction, SignedTransaction } from '../store/receipts.js'
import type { Reception } from './broadcast.js'

/** What a transaction does, whatever it costs. */
export interface Call {
  readonly to: Hex
  readonly data: Hex
}

/** A transaction that is in a block. */
export interface MinedTransaction {
  readonly hash: Hex
  readonly to: Hex | null
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly gasUsed: bigint
  /** False when it reverted. */
  readonly succeeded: boolean
  /** The contracts that have logged in it: every effect of ours is logged. */
  readonly loggedBy: readonly Hex[]
}

/**
 * How a nonce ended: with one of its transactions in a block deep enough; with a no-op there, as no node took the call; taken
 * by something else, or out of the chain's reach; or still open when the server stopped. In the second and third case the
 * call must go out again under another.
 */
export type Outcome =
  | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
  | { readonly kind: 'refused' }
  | { readonly kind: 'displaced' }
  | { readonly kind: 'stopped' }

/** Puts what a lost transaction has used in place of its limit, once that is known. To be called once. */
export type CorrectGas = (used: bigint) => void

/** The user of a pending transaction, and what the transaction manager needs of it. */
export interface Owner {
  /** Makes a signed transaction durable. Nothing is broadcast before it resolves. */
  save(transaction: SignedTransaction): Promise<void>
  /** What it may cost is among what is committed from now on. Called once, and not for what is resumed. */
  counted(): void
  /** Asked before something that may have been sent earlier is sent again. False when its effect is there. */
  isNeeded(): Promise<boolean>
  /** A transaction of its own was mined and has used so much gas. Called once for each of them. */
  used(gas: bigint): void
  /** The call was displaced from its nonce. What was sent under it may be mined all the same: the gas stays counted. */
  lost(): CorrectGas
  /** What was reported as mined is in its block no more. Called once, after the outcome, if at all. */
  dropped(): void
}

/** One call under one nonce, on its way into a block. README.md has its states. */
export interface PendingTx {
  readonly nonce: number
  /** All that may be mined for this call, the newest last. */
  readonly transactions: KeptTransaction[]
  /** The one of them that should be mined now. */
  newest: SignedTransaction
  readonly owner: Owner
  /** Wei that it may cost at most. */
  maxCost: bigint
  /** Of `performance.now()`: since when the newest transaction could have been mined. */
  waitsSince: number
  /** Whether a look has found every lower nonce used. Only from then on a refusal is about this transaction. */
  wasNext: boolean
  /** Of `performance.now()`: the last broadcast. Undefined when it is to be sent at the next look. */
  sentAt: number | undefined
  /** What came of the last broadcast; undefined until it is known. */
  reception: Reception | undefined
  /** The block that it was last seen in. */
  blockNumber: number | undefined
  /** Of `performance.now()`: since when the nonce is used up, but by none of these transactions. */
  missedSince: number | undefined
  /** Resolves when it is in a block for the first time, or ended otherwise. */
  readonly mined: Promise<void>
  readonly markMined: () => void
  readonly outcome: Promise<Outcome>
  readonly finish: (outcome: Outcome) => void
}

/**
 * @param transactions at least one; the last one's nonce is the one that counts
 * @param cost wei that the last one may cost at most; read from its bytes when left out
 */
export function createPendingTx(
  transactions: readonly KeptTransaction[],
  owner: Owner,
  cost?: bigint,
): PendingTx {
  const newest = lastSigned(transactions)
  const mined = createDeferred<void>()
  const outcome = createDeferred<Outcome>()
  return {
    nonce: newest.nonce,
    transactions: [...transactions],
    newest,
    owner,
    maxCost: cost ?? maxCost(newest),
    waitsSince: performance.now(),
    wasNext: false,
    sentAt: undefined,
    reception: undefined,
    blockNumber: undefined,
    missedSince: undefined,
    mined: mined.promise,
    markMined: mined.resolve,
    outcome: outcome.promise,
    finish(result) {
      mined.resolve()
      outcome.resolve(result)
    },
  }
}

function lastSigned(transactions: readonly KeptTransaction[]): SignedTransaction {
  const { nonce, hash, raw } = transactions.at(-1) ?? {}
  if (nonce === undefined || hash === undefined || raw === undefined) {
    throw new TypeError('no transaction to follow')
  }
  return { nonce, hash, raw }
}

/** Adds a transaction under the same nonce, signed and saved. */
export function addTransaction(tx: PendingTx, transaction: SignedTransaction): void {
  tx.transactions.push(transaction)
  tx.newest = transaction
  tx.maxCost = maxCost(transaction)
  tx.waitsSince = performance.now()
  tx.reception = undefined
}

/** A node holds it, as far as is known. */
export function isHeld({ reception }: PendingTx): boolean {
  return reception !== undefined && reception.held > 0
}

/** Every node that answered refused it. */
export function isRefused({ reception }: PendingTx): boolean {
  return reception?.held === 0 && reception.refused > 0
}

/** A transfer of nothing to the account itself uses a nonce up, and does nothing else. */
export function isNoOp(transaction: { readonly to: string | null }, relayer: Hex): boolean {
  return transaction.to !== null && sameAddress(transaction.to, relayer)
}

function maxCost({ raw }: SignedTransaction): bigint {
  const { gasLimit, fees } = readTransaction(raw)
  return gasLimit * priceLimit(fees)
}

/** Wei that transactions may cost at most. */
export interface Commitments {
  /** Those under way. */
  readonly open: bigint
  /** Those that have ended, since the start. What a balance that was read before still has, and the account may not. */
  readonly ended: bigint
}

/** Everything under way, each under its nonce. */
export interface PendingTxs {
  add(tx: PendingTx): void
  /** Takes it out, and tells whoever waits for it how it ended. */
  finish(tx: PendingTx, outcome: Outcome): void
  /** In the order of their nonces. */
  all(): PendingTx[]
  of(nonce: number): PendingTx | undefined
  /** Those below the nonce that are in no block, as far as was seen. In no order. */
  waitingBelow(nonce: number): PendingTx[]
  count(): number
  committed(): Commitments
}

/** @param onDisplaced given each call whose nonce was given up */
export function createPendingTxs(onDisplaced: (tx: PendingTx) => void): PendingTxs {
  const pendingTxs = new Set<PendingTx>()
  let ended = 0n
  return {
    add(tx) {
      pendingTxs.add(tx)
    },
    finish(tx, outcome) {
      if (pendingTxs.delete(tx)) ended += tx.maxCost
      if (outcome.kind === 'displaced') onDisplaced(tx)
      tx.finish(outcome)
    },
    all: () => [...pendingTxs].toSorted((a, b) => a.nonce - b.nonce),
    of: (nonce) => [...pendingTxs].find((tx) => tx.nonce === nonce),
    waitingBelow: (nonce) => [...pendingTxs].filter((tx) => tx.nonce < nonce && tx.blockNumber === undefined),
    count: () => pendingTxs.size,
    committed: () => ({ open: [...pendingTxs].reduce((sum, { maxCost }) => sum + maxCost, 0n), ended }),
  }
}
