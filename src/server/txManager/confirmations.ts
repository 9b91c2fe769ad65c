import { LRUCache } from 'lru-cache'
import { FINAL_DEPTH } from '../../chain/blockTracker.js'
import { resultOf } from '../../chain/jsonRpc.js'
import type { Rpc } from '../../chain/rpc.js'
import { sameAddress } from '../../protocol/address.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { AccountView, ForeignUse } from './account.js'
import type { NonceManager } from './nonceManager.js'
import {
  isNoOp,
  type MinedTransaction,
  minedTransactionSchema,
  type PendingTx,
  type PendingTxs,
} from './pendingTx.js'

/**
 * One node may know the new count before another knows the receipt that goes with it. After this long the count is believed,
 * even where the chain makes no further blocks.
 */
const RECEIPT_LAG_MS = 5_000

/**
 * Follows a pending transaction from its block to its outcome.
 * @returns throws ChainUnavailableError, ChainAnswerError
 */
export function createConfirmations(options: {
  readonly findMined: FindMined
  readonly account: Pick<AccountView, 'isNonceUsed'>
  /** The relayer's address. */
  readonly address: Hex
  readonly pendingTxs: PendingTxs
  readonly confirmed: ConfirmedTransactions
  readonly nonceManager: NonceManager
  readonly confirmations: number
  readonly gasMeter: ReturnType<typeof createGasMeter>
  readonly foreignUse: Pick<ForeignUse, 'suspect'>
  readonly logger: Logger
}) {
  const { findMined, address, pendingTxs, nonceManager, confirmations } = options

  /** A transaction under an earlier nonce ends the call only if it had its effect: it may have reverted then, and succeed now. */
  function endsPending(tx: PendingTx, index: number, transaction: MinedTransaction): boolean {
    const hasItsNonce = tx.transactions[index]?.nonce === tx.nonce
    return hasItsNonce || (transaction.succeeded && !isNoOp(transaction, address))
  }

  function report(tx: PendingTx, transaction: MinedTransaction, head: number): void {
    nonceManager.consume(tx.nonce)
    tx.owner.used(options.gasMeter(transaction))
    if (isNoOp(transaction, address)) {
      pendingTxs.finish(tx, { kind: 'refused' })
      return
    }
    options.confirmed.add({ transaction, dropped: tx.owner.dropped }, head)
    pendingTxs.finish(tx, { kind: 'mined', transaction })
  }

  /** Decided by depth or by time, whichever comes first: the process may end before further blocks arrive. */
  async function missed(tx: PendingTx, head: number): Promise<void> {
    tx.missedSince ??= performance.now()
    const own = tx.transactions.filter(({ nonce }) => nonce === tx.nonce)
    const hashes = own.map(({ hash }) => hash)
    const isOverdue = performance.now() - tx.missedSince >= RECEIPT_LAG_MS
    if (!isOverdue && !(await options.account.isNonceUsed(tx.nonce, hashes, head))) return
    options.logger.warn('nonce lost', { nonce: tx.nonce, txHash: tx.newest.hash, reason: 'used' })
    nonceManager.consume(tx.nonce)
    nonceManager.resync('pending')
    pendingTxs.finish(tx, { kind: 'displaced' })
    options.foreignUse.suspect(tx.nonce)
  }

  /**
   * @param head the latest block's number
   * @param isBroken whether blocks were replaced since the last poll
   */
  return async (tx: PendingTx, head: number, isBroken: boolean): Promise<void> => {
    // The receipt may be of a block above the head: the head was read before.
    const isDeep = (block: number) => Math.max(head, block) - block + 1 >= confirmations
    if (!isBroken && tx.blockNumber !== undefined && !isDeep(tx.blockNumber)) return
    const found = await Promise.all(tx.transactions.map(({ hash }) => findMined(hash)))
    const mined = found.findLast(
      (transaction, index) => transaction !== null && endsPending(tx, index, transaction),
    )
    tx.blockNumber = mined?.blockNumber
    if (!mined) return missed(tx, head)
    tx.missedSince = undefined
    tx.markMined()
    if (isDeep(mined.blockNumber)) report(tx, mined, head)
  }
}

/** Asks for the transaction of a hash; null when it is in no block. @throws ChainUnavailableError, ChainAnswerError */
type FindMined = (hash: Hex) => Promise<MinedTransaction | null>

/** A call to an address without a contract succeeds without an effect. */
export function hasEffect({ succeeded, loggedBy }: MinedTransaction, target: Hex): boolean {
  return succeeded && loggedBy.some((address) => sameAddress(address, target))
}

/** @param rpc sends the requests of one turn in one batch */
export function createFindMined(rpc: Pick<Rpc, 'send'>): FindMined {
  return async (hash) => {
    const [answer] = await rpc.send([{ method: 'eth_getTransactionReceipt', params: [hash] }])
    return resultOf(answer, minedTransactionSchema.nullable())
  }
}

/** A transaction that was reported as mined, watched a while longer. */
interface ReportedTransaction {
  readonly transaction: MinedTransaction
  /** Called when it is no longer in its block. */
  readonly dropped: () => void
}

/** Transactions that were reported as mined: a reorganization deeper than the confirmations may still remove them. */
export type ConfirmedTransactions = ReturnType<typeof createConfirmedTransactions>

/** The most reported transactions that are watched. */
const MAX_KEPT = 4_096

/** @param hashAt asks for the hash of a block, in one request for all of a turn */
export function createConfirmedTransactions(findMined: FindMined, hashAt: (number: number) => Promise<Hex>) {
  const kept = new Set<ReportedTransaction>()
  const suspected = new Set<ReportedTransaction>()
  /**
   * Found in a block above every head that was seen. When another block replaces that one before a poll has seen it, the history seems
   * unbroken. So the block is asked for once the head is there.
   */
  const aboveHead = new Set<ReportedTransaction>()

  async function recheck(reported: ReportedTransaction): Promise<void> {
    const { hash, blockHash } = reported.transaction
    const now = await findMined(hash)
    if (!suspected.delete(reported) || now?.blockHash === blockHash) return
    stopWatching(reported)
    reported.dropped()
  }

  /** Every transaction of a block is still there while the block is. */
  async function suspectUnlessThere(reported: ReportedTransaction): Promise<void> {
    const { blockNumber, blockHash } = reported.transaction
    aboveHead.delete(reported)
    const now = await hashAt(blockNumber).catch(() => null)
    if (now !== blockHash && kept.has(reported)) suspected.add(reported)
  }

  function stopWatching(reported: ReportedTransaction): void {
    kept.delete(reported)
    suspected.delete(reported)
    aboveHead.delete(reported)
  }

  return {
    /** @param head of the poll that found it: its block may be above */
    add(reported: ReportedTransaction, head: number) {
      kept.add(reported)
      if (reported.transaction.blockNumber > head) aboveHead.add(reported)
      for (const oldest of kept) {
        if (kept.size <= MAX_KEPT) break
        stopWatching(oldest)
      }
    },
    isEmpty: () => kept.size === 0,
    /** Drops those that are too deep to be reorganized away. */
    forget(head: number) {
      for (const reported of kept)
        if (head - reported.transaction.blockNumber >= FINAL_DEPTH) stopWatching(reported)
    },
    /** Blocks were replaced: each transaction may be in another one now, or in none. */
    suspectAll() {
      for (const reported of kept) suspected.add(reported)
    },
    /** Asks for those that are suspected, and reports those that moved. They stay suspected where no node answers. */
    async check(head: number) {
      const reached = [...aboveHead].filter(({ transaction }) => transaction.blockNumber <= head)
      await Promise.all(reached.map(suspectUnlessThere))
      await Promise.allSettled([...suspected].map(recheck))
    },
    /** The chain was reset: no transaction is put back onto a chain that never had it. */
    clear() {
      kept.clear()
      suspected.clear()
      aboveHead.clear()
    },
  }
}

/** How many counted transactions are remembered. */
const MAX_COUNTED = 4_096

/**
 * A transaction may be found several times: after a reorganization, or by a relay job whose end cannot be stored.
 * @returns the gas that a mined transaction used, and zero for one that was counted before
 */
export function createGasMeter() {
  const counted = new LRUCache<Hex, true>({ max: MAX_COUNTED })
  return ({ hash, gasUsed }: Pick<MinedTransaction, 'hash' | 'gasUsed'>): bigint => {
    if (counted.get(hash) !== undefined) return 0n
    counted.set(hash, true)
    return gasUsed
  }
}
