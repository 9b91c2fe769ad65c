import * as z from 'zod'
import { priceLimit } from '../../chain/fees.js'
import { quantitySchema, smallQuantitySchema } from '../../chain/jsonRpc.js'
import { sameAddress } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'
import { type KeptTransaction, readTransaction, type SignedTransaction } from '../signer/transaction.js'
import type { NodeAnswers } from './broadcast.js'

/** The target and calldata of a transaction. */
export interface Call {
  readonly to: Hex
  readonly data: Hex
}

/** The fields of a receipt that count. */
export const minedTransactionSchema = z
  .object({
    transactionHash: bytes32Schema,
    to: z.nullish(hexOf(20)),
    blockNumber: smallQuantitySchema,
    blockHash: bytes32Schema,
    gasUsed: quantitySchema,
    status: z.enum(['0x0', '0x1']),
    logs: z.array(z.object({ address: hexOf(20) })),
  })
  .transform(({ transactionHash, to = null, status, logs, ...block }) => ({
    ...block,
    ...{ hash: transactionHash, to },
    /** False when it reverted. */
    succeeded: status === '0x1',
    /** The contracts that logged in it. Every effect of ours is logged. */
    loggedBy: logs.map(({ address }) => address),
  }))
/** A transaction that is in a block. */
export type MinedTransaction = Readonly<z.output<typeof minedTransactionSchema>>

/**
 * How a nonce ended.
 * - `mined`: one of its transactions is deep enough
 * - `refused`: a no-op was mined, because no node accepted the call. The call must go out again under another nonce
 * - `displaced`: another transaction used it, or the chain lost the nonces below. The same follows
 * - `stopped`: it was still pending when the term ended
 */
export type TxOutcome =
  | { readonly kind: 'mined'; readonly transaction: MinedTransaction }
  | { readonly kind: 'refused' }
  | { readonly kind: 'displaced' }
  | { readonly kind: 'stopped' }

/** The caller behind a pending transaction, as the transaction manager needs it. */
export interface Owner {
  /** Makes a signed transaction durable. Nothing is broadcast before it resolves. */
  save(transaction: SignedTransaction): Promise<void>
  /** The commitments include its cost from now on. Called once, and not for a resumed call. */
  counted(): void
  /** Asked before a transaction that may have been sent earlier is sent again. False when its effect is there. */
  isNeeded(): Promise<boolean>
  /** One of its transactions was mined and used so much gas. Called once for each of them. */
  used(gas: bigint): void
  /** The call was displaced from its nonce. Its transactions may be mined all the same, so their gas stays counted. */
  lost(): void
  /** The transaction that was reported as mined is no longer in its block. Called once at most, after the outcome. */
  dropped(): void
}

/** One call under one nonce, on its way into a block. README.md has its states. */
export interface PendingTx {
  readonly nonce: number
  /** All transactions that may be mined for this call, the newest last. */
  readonly transactions: KeptTransaction[]
  /** The one of them that should be mined now. */
  newest: SignedTransaction
  readonly owner: Owner
  /** The gas limit of the newest. */
  gasLimit: bigint
  /** The most wei that it may cost. */
  maxCost: bigint
  /** The time from which the newest transaction could have been mined, by `performance.now()`. */
  waitsSince: number
  /** Whether a poll has found every lower nonce used. Only from then on does a refusal concern this transaction. */
  wasNext: boolean
  /** The last broadcast, by `performance.now()`. Undefined when it is to be sent at the next poll. */
  sentAt: number | undefined
  /** The nodes' answers to the last broadcast; undefined until they are known. What a node accepted, it may lose. */
  answers: NodeAnswers | undefined
  /** The block that it was last seen in. */
  blockNumber: number | undefined
  /** The time from which the nonce is used, but by none of these transactions, by `performance.now()`. */
  missedSince: number | undefined
  /** Resolves when it is in a block for the first time, or ended otherwise. */
  readonly mined: Promise<void>
  readonly markMined: () => void
  readonly outcome: Promise<TxOutcome>
  readonly finish: (outcome: TxOutcome) => void
}

/**
 * @param transactions at least one; the last one's nonce is the one that counts
 * @param bounds of the last one; read from its bytes by default
 */
export function createPendingTx(
  transactions: readonly KeptTransaction[],
  owner: Owner,
  bounds?: Bounds,
): PendingTx {
  const newest = lastSigned(transactions)
  const mined = Promise.withResolvers<void>()
  const outcome = Promise.withResolvers<TxOutcome>()
  return {
    nonce: newest.nonce,
    transactions: [...transactions],
    newest,
    owner,
    ...(bounds ?? boundsOf(newest)),
    waitsSince: performance.now(),
    wasNext: false,
    sentAt: undefined,
    answers: undefined,
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

/** A node has it, as far as is known. */
export function isAccepted({ answers }: PendingTx): boolean {
  return answers !== undefined && answers.accepted > 0
}

/** Every node that answered refused it. */
export function isRefused({ answers }: PendingTx): boolean {
  return answers?.accepted === 0 && answers.refused > 0
}

/** Whether it is a transfer of zero wei to the account itself, which only uses the nonce. */
export function isNoOp(transaction: { readonly to: string | null }, relayer: Hex): boolean {
  return transaction.to !== null && sameAddress(transaction.to, relayer)
}

/** The highest cost of a transaction. */
type Bounds = Pick<PendingTx, 'gasLimit' | 'maxCost'>

function boundsOf({ raw }: SignedTransaction): Bounds {
  const { gasLimit, fees } = readTransaction(raw)
  return { gasLimit, maxCost: gasLimit * priceLimit(fees) }
}

/** The pending transactions, each under its nonce. */
export type PendingTxs = ReturnType<typeof createPendingTxs>

export function createPendingTxs() {
  const pendingTxs = new Set<PendingTx>()
  let open = 0n
  let ended = 0n
  return {
    add(tx: PendingTx) {
      pendingTxs.add(tx)
      open += tx.maxCost
    },
    /** Adds a transaction under the same nonce, signed and saved. */
    addTransaction(tx: PendingTx, transaction: SignedTransaction) {
      const before = tx.maxCost
      tx.transactions.push(transaction)
      tx.newest = transaction
      Object.assign(tx, boundsOf(transaction))
      tx.waitsSince = performance.now()
      tx.answers = undefined
      if (pendingTxs.has(tx)) open += tx.maxCost - before
    },
    /** Removes it, and resolves its outcome. */
    finish(tx: PendingTx, outcome: TxOutcome) {
      if (pendingTxs.delete(tx)) {
        open -= tx.maxCost
        ended += tx.maxCost
      }
      if (outcome.kind === 'displaced') tx.owner.lost()
      tx.finish(outcome)
    },
    /** The transactions, in the order of their nonces. */
    all: () => [...pendingTxs].toSorted((a, b) => a.nonce - b.nonce),
    of(nonce: number): PendingTx | undefined {
      for (const tx of pendingTxs) if (tx.nonce === nonce) return tx
      return undefined
    },
    /** The transactions unsorted, and not copied, because every offer iterates over them. */
    unordered: (): Iterable<PendingTx> => pendingTxs,
    count: () => pendingTxs.size,
    /**
     * The most wei that transactions may cost: those pending, and those that have ended since the start. A balance that was read earlier
     * may still include the cost of these.
     */
    committed: () => ({ open, ended }),
  }
}
