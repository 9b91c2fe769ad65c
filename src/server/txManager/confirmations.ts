import { z } from 'zod'
import { quantitySchema, smallQuantitySchema } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import { sameAddress } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createRecentMap } from '../../service/recentMap.js'
import type { AccountView, ForeignUse } from './account.js'
import type { NonceManager } from './nonceManager.js'
import {
  type CorrectGas,
  isNoOp,
  type MinedTransaction,
  type PendingTx,
  type PendingTxs,
} from './pendingTx.js'

export interface ConfirmationsOptions {
  readonly findMined: FindMined
  readonly account: Pick<AccountView, 'isTaken'>
  /** The relayer's address. */
  readonly address: Hex
  readonly pendingTxs: PendingTxs
  readonly settled: ConfirmedTransactions
  readonly nonceManager: NonceManager
  readonly confirmations: number
  readonly gasCount: GasCount
  readonly foreignUse: Pick<ForeignUse, 'suspect'>
  readonly logger: Logger
}

/** Finds out what a nonce that is used up was used for. */
export interface Confirmations {
  /**
   * @param head the latest block's number
   * @param isBroken whether blocks were exchanged since the last look
   * @throws ChainUnavailableError, ChainAnswerError
   */
  check(tx: PendingTx, head: number, isBroken: boolean): Promise<void>
}

/**
 * One node may know of a new count before another knows of the receipt that goes with it. After so long it is believed
 * on a chain, too, that makes no further blocks to judge by.
 */
const RECEIPT_LAG_MS = 5_000
export function createConfirmations(options: ConfirmationsOptions): Confirmations {
  const {
    findMined,
    account,
    address,
    pendingTxs,
    settled,
    nonceManager,
    confirmations,
    gasCount,
    foreignUse,
    logger,
  } = options

  /** Of what went out earlier under another nonce, only an effect: it may have failed then, and be tried again now. */
  function endsPending(tx: PendingTx, index: number, transaction: MinedTransaction): boolean {
    const hasItsNonce = tx.transactions[index]?.nonce === tx.nonce
    return hasItsNonce || (transaction.succeeded && !isNoOp(transaction, address))
  }

  function report(tx: PendingTx, transaction: MinedTransaction): void {
    nonceManager.consume(tx.nonce)
    tx.owner.used(gasCount(transaction))
    if (isNoOp(transaction, address)) {
      pendingTxs.finish(tx, { kind: 'refused' })
      return
    }
    settled.add({ transaction, dropped: tx.owner.dropped })
    pendingTxs.finish(tx, { kind: 'mined', transaction })
  }

  /** By blocks or by the clock, whichever is first: a process may not live as long as its patience. */
  async function missed(tx: PendingTx, head: number): Promise<void> {
    tx.missedSince ??= performance.now()
    const own = tx.transactions.filter(({ nonce }) => nonce === tx.nonce)
    const hashes = own.map(({ hash }) => hash)
    const isOverdue = performance.now() - tx.missedSince >= RECEIPT_LAG_MS
    if (!isOverdue && !(await account.isTaken(tx.nonce, hashes, head))) return
    logger.warn('nonce lost', { nonce: tx.nonce, txHash: tx.newest.hash, reason: 'taken' })
    nonceManager.consume(tx.nonce)
    nonceManager.resync('pending')
    pendingTxs.finish(tx, { kind: 'displaced' })
    foreignUse.suspect(tx.nonce)
  }

  return {
    async check(tx, head, isBroken) {
      const isDeep = (block: number) => head - block + 1 >= confirmations
      if (!isBroken && tx.blockNumber !== undefined && !isDeep(tx.blockNumber)) return
      const found = await Promise.all(tx.transactions.map(({ hash }) => findMined(hash)))
      const mined = found.findLast(
        (transaction, index) => transaction !== null && endsPending(tx, index, transaction),
      )
      tx.blockNumber = mined?.blockNumber
      if (!mined) return missed(tx, head)
      tx.missedSince = undefined
      tx.markMined()
      if (isDeep(mined.blockNumber)) report(tx, mined)
    },
  }
}

/** Asks for the transaction of a hash; null when it is in no block. @throws ChainUnavailableError, ChainAnswerError */
export type FindMined = (hash: Hex) => Promise<MinedTransaction | null>

/** Where there is no contract a call succeeds as well, and does nothing. */
export function hasEffect({ succeeded, loggedBy }: MinedTransaction, target: Hex): boolean {
  return succeeded && loggedBy.some((address) => sameAddress(address, target))
}

/** What counts of a receipt. What its logs say is nobody's business here. */
const receiptSchema = z
  .object({
    transactionHash: bytes32Schema,
    to: hexOf(20).nullish(),
    blockNumber: smallQuantitySchema,
    blockHash: bytes32Schema,
    gasUsed: quantitySchema,
    status: z.enum(['0x0', '0x1']),
    logs: z.array(z.object({ address: hexOf(20) })),
  })
  .transform(
    ({ transactionHash, to, status, logs, ...block }): MinedTransaction => ({
      ...block,
      hash: transactionHash,
      to: to ?? null,
      succeeded: status === '0x1',
      loggedBy: logs.map(({ address }) => address),
    }),
  )
  .nullable()

/** @param transport gathers what is asked in one turn */
export function createFindMined(transport: Pick<RpcTransport, 'send'>): FindMined {
  return async (hash) => {
    const [answer] = await transport.send([{ method: 'eth_getTransactionReceipt', params: [hash] }])
    return resultOf(answer, receiptSchema)
  }
}

/** A transaction that was reported as mined, watched a while longer. */
export interface Settled {
  readonly transaction: MinedTransaction
  /** It is in its block no more. */
  readonly dropped: () => void
}

/** What was reported as mined: a reorganization deeper than the confirmations may still take it back. */
export interface ConfirmedTransactions {
  add(settled: Settled): void
  isEmpty(): boolean
  /** Lets go of what is too deep to be taken back. */
  forget(head: number): void
  /** Blocks were exchanged: any of them may be in another one now, or in none. */
  suspectAll(): void
  /** Asks for those that are suspected, and reports those that moved. What can't be asked stays suspected. */
  check(): Promise<void>
  /** The chain was reset: nothing is put back onto one that never had it. */
  clear(): void
}

/** Two epochs of Ethereum, after which a block is final. */
const DEPTH = 64
/** Reports are kept of so many at most. */
const MAX_KEPT = 4_096

export function createConfirmedTransactions(findMined: FindMined): ConfirmedTransactions {
  const kept = new Set<Settled>()

  const suspected = new Set<Settled>()

  async function look(settled: Settled): Promise<void> {
    const { hash, blockHash } = settled.transaction
    const now = await findMined(hash)
    if (!suspected.delete(settled) || now?.blockHash === blockHash) return
    kept.delete(settled)
    settled.dropped()
  }

  function letGo(settled: Settled): void {
    kept.delete(settled)
    suspected.delete(settled)
  }

  return {
    add(settled) {
      kept.add(settled)
      for (const oldest of kept) {
        if (kept.size <= MAX_KEPT) break
        letGo(oldest)
      }
    },
    isEmpty: () => kept.size === 0,
    forget(head) {
      for (const settled of kept) if (head - settled.transaction.blockNumber >= DEPTH) letGo(settled)
    },
    suspectAll() {
      for (const settled of kept) suspected.add(settled)
    },
    async check() {
      await Promise.allSettled([...suspected].map(look))
    },
    clear() {
      kept.clear()
      suspected.clear()
    },
  }
}

/** Transactions whose nonce was given up before a receipt was found: a node that has none may just not show it. */
export interface LostTransactions {
  add(tx: PendingTx): void
  /** The nonce was used by something else: nothing that was sent under it uses gas. */
  taken(nonce: number): void
  /** Looks for their receipts, every few seconds at most. What can't be asked is asked again. Never rejects. */
  check(): Promise<void>
}

interface Lost {
  readonly nonce: number
  /** All that may be mined under its nonce. */
  readonly hashes: readonly Hex[]
  readonly correct: CorrectGas
  /** Of `performance.now()`. */
  readonly since: number
}

const ASK_AGAIN_MS = 10_000
/** The budget begins anew each day. */
const MAX_AGE_MS = 86_400_000
const MAX_LOST = 1_024

/** Until its receipt is found, the gas of a lost transaction stays counted at its limit. */
export function createLostTransactions(options: {
  readonly findMined: FindMined
  readonly gasCount: GasCount
}): LostTransactions {
  const { findMined, gasCount } = options
  const kept = new Set<Lost>()
  let askedAt = Number.NEGATIVE_INFINITY

  async function look(lost: Lost): Promise<void> {
    if (performance.now() - lost.since > MAX_AGE_MS) kept.delete(lost)
    const found = await Promise.all(lost.hashes.map(findMined))
    const mined = found.find((transaction) => transaction !== null)
    if (!mined || !kept.delete(lost)) return
    lost.correct(gasCount(mined))
  }

  return {
    add({ nonce, transactions, owner }) {
      const own = transactions.filter((transaction) => transaction.nonce === nonce)
      kept.add({
        nonce,
        hashes: own.map(({ hash }) => hash),
        correct: owner.lost(),
        since: performance.now(),
      })
      for (const oldest of kept) {
        if (kept.size <= MAX_LOST) break
        kept.delete(oldest)
      }
    },
    taken(nonce) {
      for (const lost of kept) if (lost.nonce === nonce && kept.delete(lost)) lost.correct(0n)
    },
    async check() {
      if (kept.size === 0 || performance.now() - askedAt < ASK_AGAIN_MS) return
      askedAt = performance.now()
      await Promise.allSettled([...kept].map(look))
    },
  }
}

/** Gas of a mined transaction that is not counted yet: what it used, and nothing when it is asked again. */
export type GasCount = (transaction: Pick<MinedTransaction, 'hash' | 'gasUsed'>) => bigint

/** Transactions whose gas is known to be counted. */
const MAX_COUNTED = 4_096

/** A transaction may be found several times: after a reorganization, or by an authorization whose end the disk refuses. */
export function createGasCount(): GasCount {
  const counted = createRecentMap<Hex, true>(MAX_COUNTED)
  return ({ hash, gasUsed }) => {
    if (counted.get(hash) !== undefined) return 0n
    counted.set(hash, true)
    return gasUsed
  }
}
