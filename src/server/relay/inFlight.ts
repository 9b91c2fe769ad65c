import type { TransactionReceipt } from 'ethers'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { SignedTransaction } from '../store/receipts.js'
import { readTransaction } from './signer.js'

/** A transaction that is in a block. */
export interface MinedTransaction {
  readonly hash: Hex
  readonly blockNumber: number
  readonly gasUsed: bigint
  /** False when it reverted. */
  readonly succeeded: boolean
}

/** What the relay keeps of a receipt that a node gave. */
export function minedTransaction(receipt: TransactionReceipt): MinedTransaction {
  return {
    hash: bytes32Schema.parse(receipt.hash),
    blockNumber: receipt.blockNumber,
    gasUsed: receipt.gasUsed,
    succeeded: receipt.status === 1,
  }
}

/**
 * How a nonce ended: with one of its transactions in a block deep enough; taken by something else, or out of the
 * chain's reach, so that the call must go out again under another; or still open when the server stopped.
 */
export type Outcome =
  | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
  | { readonly kind: 'displaced' }
  | { readonly kind: 'stopped' }

/** Makes a signed transaction durable. Nothing is broadcast before it resolves. */
export type SaveTransaction = (transaction: SignedTransaction) => Promise<void>

/** One call under one nonce, on its way into a block. */
export interface InFlight {
  readonly nonce: number
  /** All that may be mined for this call, the newest last. */
  readonly transactions: SignedTransaction[]
  readonly save: SaveTransaction
  /** Wei that it may cost at most. */
  maxCost: bigint
  /** Of `performance.now()`. */
  lastSentAt: number
  /** Of `performance.now()`: since when the nonce is used up, but by none of these transactions. */
  missedSince: number | undefined
  readonly outcome: Promise<Outcome>
  readonly finish: (outcome: Outcome) => void
}

/** @param transactions at least one; the last one's nonce is the one that counts */
export function createInFlight(transactions: readonly SignedTransaction[], save: SaveTransaction): InFlight {
  const newest = transactions.at(-1)
  if (newest === undefined) throw new TypeError('no transaction to follow')
  let finish: (outcome: Outcome) => void = () => undefined
  const outcome = new Promise<Outcome>((resolve) => {
    finish = resolve
  })
  return {
    nonce: newest.nonce,
    transactions: [...transactions],
    save,
    maxCost: maxCost(newest),
    lastSentAt: performance.now(),
    missedSince: undefined,
    outcome,
    finish,
  }
}

/** The transaction that should be mined for it now. */
export function newestOf(flight: InFlight): SignedTransaction {
  const newest = flight.transactions.at(-1)
  if (newest === undefined) throw new TypeError('no transaction to follow')
  return newest
}

/** Adds a transaction under the same nonce, signed and saved. */
export function addTransaction(flight: InFlight, transaction: SignedTransaction): void {
  flight.transactions.push(transaction)
  flight.maxCost = maxCost(transaction)
}

function maxCost({ raw }: SignedTransaction): bigint {
  const { gasLimit, maxFeePerGas } = readTransaction(raw)
  return gasLimit * maxFeePerGas
}
