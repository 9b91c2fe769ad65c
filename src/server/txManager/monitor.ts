import type { Break } from '../../chain/blockTracker.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { AccountState, AccountView, ForeignUse } from './account.js'
import type { NodeAnswers } from './broadcast.js'
import type { ConfirmedTransactions, createConfirmations } from './confirmations.js'
import type { NonceManager } from './nonceManager.js'
import { isAccepted, isRefused, type PendingTx, type PendingTxs } from './pendingTx.js'
import type { SendAhead, Sender } from './sender.js'

/** While no transaction is pending, a poll only finds transactions that blocks have lost. */
const IDLE_POLL_MS = 5_000
/** While none can be lost either, a poll only finds other uses of the account. */
const RESTING_POLL_MS = 30_000

/**
 * Polls the chain for every pending transaction, and acts on the result. One poll is a request for head and nonce, and one more
 * for the receipts of transactions that seem mined.
 */
export function createMonitor(options: {
  /** Whether the account is known to be this process's own. Otherwise another server may use it, and a poll proves nothing here. */
  readonly isTrusted: () => boolean
  readonly account: AccountView
  readonly pendingTxs: PendingTxs
  /** Handles a transaction whose nonce is used. */
  readonly check: ReturnType<typeof createConfirmations>
  /** Handles a transaction that is in no block. */
  readonly resubmit: ReturnType<typeof createResubmission>
  readonly sendAhead: Pick<SendAhead, 'observeCount'>
  readonly closeGaps: ReturnType<typeof createNonceGaps>
  readonly confirmed: ConfirmedTransactions
  readonly nonceManager: Pick<NonceManager, 'observeCount'>
  readonly foreignUse: Pick<ForeignUse, 'check'>
  readonly logger: Logger
}): () => Promise<void> {
  const { account, pendingTxs, sendAhead, confirmed, logger } = options
  let polledAt = 0

  function pauseMs(): number {
    if (pendingTxs.count() > 0) return 0
    return confirmed.isEmpty() ? RESTING_POLL_MS : IDLE_POLL_MS
  }

  /** Blocks may come back after a reorganization, and not after a reset. */
  function findBreak(poll: AccountState): Break | null {
    const broken = account.consumeBreak()
    if (broken === null) return null
    logger.warn('history changed', { reason: broken, blockNumber: poll.head })
    if (broken === 'reset') confirmed.clear()
    else confirmed.suspectAll()
    return broken
  }

  /** Follows the order of nonces. A transaction that fails waits for the next poll and delays no other. */
  async function each(isOne: (nonce: number) => boolean, act: (tx: PendingTx) => Promise<void>) {
    const some = pendingTxs.all().filter(({ nonce }) => isOne(nonce))
    await Promise.all(
      some.map((tx) =>
        act(tx).catch((error: unknown) => {
          logger.warn('transaction deferred to the next poll', { nonce: tx.nonce, ...describeError(error) })
        }),
      ),
    )
  }

  return async () => {
    if (performance.now() - polledAt < pauseMs()) return
    polledAt = performance.now()
    const poll = await account.poll()
    if (poll.history === 'behind' || !options.isTrusted()) return
    const broken = findBreak(poll)
    await confirmed.check(poll.head)
    confirmed.forget(poll.head)
    if (broken === null) options.nonceManager.observeCount(poll.count)
    await options.foreignUse.check(poll.head)
    await each(
      (nonce) => nonce < poll.count,
      (tx) => options.check(tx, poll.head, broken !== null),
    )
    sendAhead.observeCount(poll.count)
    await each(
      (nonce) => nonce >= poll.count,
      (tx) => options.resubmit(tx, poll),
    )
    await options.closeGaps(poll, broken)
  }
}

/**
 * A transaction that no node has is offered again after this long: a node may have room for it by now. So is one that a node accepted and
 * whose nonce is free in the pool: nodes lose what they accepted, when they restart, make room, or build a block with no room for it.
 */
const OFFER_AGAIN_MS = 1_000

/**
 * Offers, resubmits or gives up a transaction that is in no block, at its time.
 * @returns throws what the owner's `save` and `isNeeded` throw, ChainUnavailableError, ChainAnswerError
 */
export function createResubmission(options: {
  readonly sender: Sender
  readonly sendAhead: SendAhead
  readonly nonceManager: NonceManager
  readonly pendingTxs: PendingTxs
  readonly resubmitAfterMs: number
}) {
  const { sender, sendAhead, nonceManager, pendingTxs, resubmitAfterMs } = options

  /** A transaction that was in a block before is sent again immediately. */
  function dropFromBlock(tx: PendingTx): void {
    if (tx.blockNumber !== undefined) tx.sentAt = undefined
    tx.blockNumber = undefined
    tx.missedSince = undefined
  }

  /** No fee could have had it mined before, and a refusal meant little. So its time and its answers begin anew. */
  function becomeNext(tx: PendingTx): void {
    tx.wasNext = true
    tx.waitsSince = performance.now()
    if (!isRefused(tx)) return
    tx.answers = undefined
    sendAhead.offer(tx)
  }

  /** Its effect is already there by another transaction. If its nonce becomes a gap, it is filled later. */
  function abandon(tx: PendingTx): void {
    nonceManager.recycle(tx.nonce)
    pendingTxs.finish(tx, { kind: 'displaced' })
  }

  async function sendFirst(tx: PendingTx): Promise<void> {
    if (sendAhead.isTooEarly(tx)) return
    if (await tx.owner.isNeeded()) sendAhead.offer(tx)
    else abandon(tx)
  }

  /** A higher fee above a lower pending nonce, or in no pool, helps only where nodes drop the transaction because fees have risen. */
  async function keepWaiting(tx: PendingTx): Promise<void> {
    if (await sender.isOutbid(tx)) return sender.resubmit(tx)
    tx.waitsSince = performance.now()
    if (isAccepted(tx)) sendAhead.offer(tx)
  }

  return async (
    tx: PendingTx,
    { count, pending }: Pick<AccountState, 'count' | 'pending'>,
  ): Promise<void> => {
    dropFromBlock(tx)
    const isInPool = tx.nonce < pending
    const isNext = tx.nonce === count
    if (isNext && !tx.wasNext) becomeNext(tx)
    const { sentAt, waitsSince, answers } = tx
    const now = performance.now()
    if (sentAt === undefined) return sendFirst(tx)
    if (now - waitsSince >= resubmitAfterMs && !isUnanswered(answers)) {
      if (isNext && isRefused(tx)) return sender.giveUp(tx)
      const isPriced = isInPool || (answers !== undefined && answers.known > 0)
      return isNext && isPriced ? sender.resubmit(tx) : keepWaiting(tx)
    }
    const isAnswered = answers !== undefined
    if (isAnswered && !(isAccepted(tx) && isInPool) && now - sentAt >= OFFER_AGAIN_MS) sendAhead.offer(tx)
  }
}

/** No node has answered, so a higher fee would not help. */
function isUnanswered(answers: NodeAnswers | undefined): boolean {
  return answers?.accepted === 0 && answers.refused === 0
}

/** How long a gap stays open: a caller may be about to acquire the nonce, or a node may not know the count yet. */
const PATIENCE_MS = 3_000
/** More gaps mean that the chain has lost the transactions below, and no-ops would cost more than starting again. */
const MAX_FILLED = 16

/**
 * Fills nonce gaps below pending transactions with no-op transactions. A crash between two saves, a lost record or a chain that lost
 * blocks leaves gaps. Of too many gaps none is filled: the transactions above start again below.
 */
export function createNonceGaps(options: {
  readonly pendingTxs: PendingTxs
  readonly nonceManager: NonceManager
  readonly sender: Sender
  readonly resubmitAfterMs: number
  readonly logger: Logger
}) {
  const { pendingTxs, nonceManager, sender, resubmitAfterMs, logger } = options
  let lowestGap: { nonce: number; since: number } | undefined

  /** A nonce that a node's pool knows gets as much time as any transaction. */
  function isOverdue(nonce: number, poll: AccountState): boolean {
    if (lowestGap?.nonce !== nonce) lowestGap = { nonce, since: performance.now() }
    const patience = nonce < poll.pending ? resubmitAfterMs : Math.min(PATIENCE_MS, resubmitAfterMs)
    return performance.now() - lowestGap.since >= patience
  }

  async function fill(nonce: number): Promise<void> {
    nonceManager.reserve(nonce)
    try {
      const tx = await sender.fill(nonce)
      pendingTxs.add(tx)
      void sender.broadcast(tx)
    } catch (error) {
      nonceManager.recycle(nonce)
      logger.warn('nonce not filled', { nonce, ...describeError(error) })
    }
  }

  function startAgainBelow(gap: number): void {
    nonceManager.resync('latest')
    for (const tx of pendingTxs.all().filter(({ nonce }) => nonce > gap)) {
      const { nonce } = tx
      logger.warn('nonce lost', { nonce, txHash: tx.newest.hash, reason: 'unreachable' })
      nonceManager.recycle(nonce)
      pendingTxs.finish(tx, { kind: 'displaced' })
    }
  }

  /** @param broken how the chain's history broke since the last time */
  return async (poll: AccountState, broken: Break | null): Promise<void> => {
    const gaps = nonceManager.gaps(poll.count, MAX_FILLED + 1)
    const [lowest] = gaps
    if (lowest === undefined) lowestGap = undefined
    else if (broken === 'reset') startAgainBelow(lowest)
    else if (!isOverdue(lowest, poll)) return
    else if (gaps.length > MAX_FILLED) startAgainBelow(lowest)
    else for (const nonce of gaps) await fill(nonce)
  }
}
