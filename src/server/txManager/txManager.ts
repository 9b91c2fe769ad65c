import { createFindNonceUse } from '../../chain/nonceUse.js'
import type { Rpc } from '../../chain/rpc.js'
import { createPoller } from '../../service/lifetime.js'
import { createSemaphore } from '../../service/semaphore.js'
import type { KeptTransaction } from '../signer/transaction.js'
import { createAccountView, createForeignUse } from './account.js'
import {
  createConfirmations,
  createConfirmedTransactions,
  createFindMined,
  createGasMeter,
} from './confirmations.js'
import { createMonitor, createNonceGaps, createResubmission } from './monitor.js'
import { createNonceManager } from './nonceManager.js'
import { createPendingTx, createPendingTxs, type Owner, type PendingTx, type TxOutcome } from './pendingTx.js'
import { type CheckedCall, createSendAhead, createSender } from './sender.js'

/** The one user of the relayer's account: gets calls mined, many at a time, and maintains no nonce gap. */
export type TxManager = ReturnType<typeof createTxManager>

export function createTxManager(
  options: Omit<Parameters<typeof createSender>[0], 'pendingTxs' | 'onSigned'> & {
    readonly rpc: Pick<Rpc, 'send' | 'doubt'>
    /** How long a node whose blocks are known may be behind, in place of the usual time. */
    readonly trailingMs?: number | undefined
    /** Blocks that must hold a transaction, its own included, before it counts. */
    readonly confirmations: number
    /** How many transactions may be unmined at the same time. */
    readonly maxInFlight: number
    /** A transaction that is not mined after this long is resubmitted with a higher fee. */
    readonly resubmitAfterMs: number
    /** The longest pause between two polls at the chain while a transaction is pending: less on a chain of quick blocks. */
    readonly pollIntervalMs: number
    /** Called for each transaction of the account that was not signed here. */
    readonly onForeign: () => void
  },
) {
  const findMined = createFindMined(options.rpc)
  const gasMeter = createGasMeter()
  const pendingTxs = createPendingTxs()
  const semaphore = createSemaphore(options.maxInFlight)
  /** Half of the permits, so that writes that advance orders written ahead do not wait behind thousands of openings. */
  const openings = createSemaphore(Math.ceil(options.maxInFlight / 2))
  const { rpc, pollIntervalMs, logger } = options
  const { address } = options.signer
  const foreignUse = createForeignUse({
    findNonceUse: createFindNonceUse({ rpc, address }),
    isTrusted: options.isTrusted,
    onForeign: options.onForeign,
    logger,
  })
  const sender = createSender({ ...options, pendingTxs, onSigned: foreignUse.noteOwn })
  const stopping = new AbortController()
  const account = createAccountView({ rpc, address, trailingMs: options.trailingMs })
  const sendAhead = createSendAhead({ pendingTxs, sender, account })
  const nonceManager = createNonceManager(account, stopping.signal, foreignUse.suspect)
  const confirmed = createConfirmedTransactions(findMined, account.hashAt)
  const seen = { ...options, address, account, findMined, gasMeter, foreignUse, pendingTxs, nonceManager }
  const poll = createMonitor({
    ...seen,
    sendAhead,
    confirmed,
    check: createConfirmations({ ...seen, confirmed }),
    resubmit: createResubmission({ ...seen, sender, sendAhead }),
    closeGaps: createNonceGaps({ ...seen, sender }),
  })
  const intervalMs = () => Math.min(pollIntervalMs, account.pauseMs())
  const poller = createPoller({ name: 'tx-manager', intervalMs, tick: poll, logger })

  async function open(call: CheckedCall, owner: Owner): Promise<PendingTx | undefined> {
    const nonce = await nonceManager.acquire()
    if (nonce === undefined) return undefined
    try {
      const tx = await sender.write(call, nonce, owner)
      // No await stands between the two, so that its cost is always counted in exactly one place.
      pendingTxs.add(tx)
      owner.counted()
      return tx
    } catch (error) {
      nonceManager.recycle(nonce)
      throw error
    }
  }

  return {
    /**
     * Signs the call under the next nonce, saves it, broadcasts it and follows it. Resubmits it with a higher fee when it
     * is not mined in time. Waits for a permit when too many are pending.
     *
     * @throws what `save` throws, ChainUnavailableError, ChainAnswerError: nothing was sent then, and no nonce used
     */
    async send(call: CheckedCall, owner: Owner, isOpening = false): Promise<TxOutcome> {
      if (isOpening) await openings.acquire()
      await semaphore.acquire()
      try {
        if (stopping.signal.aborted) return { kind: 'stopped' }
        const tx = await open(call, owner)
        // It is saved, so the next term sends it. This term no longer follows it.
        if (tx === undefined || stopping.signal.aborted) return { kind: 'stopped' }
        sendAhead.offer(tx)
        await tx.mined
        return tx.outcome
      } finally {
        // A transaction in a block uses no room in the nodes' pools.
        semaphore.release()
        if (isOpening) openings.release()
      }
    },
    /**
     * Follows transactions that an earlier term signed, oldest first: they may have been broadcast, or mined. The newest is
     * sent again only once a poll at the chain shows that none is mined.
     */
    async resume(transactions: readonly KeptTransaction[], owner: Owner): Promise<TxOutcome> {
      if (stopping.signal.aborted) return { kind: 'stopped' }
      for (const { hash } of transactions) foreignUse.noteOwn(hash)
      const tx = createPendingTx(transactions, owner)
      semaphore.occupy()
      void tx.mined.then(semaphore.release)
      nonceManager.reserve(tx.nonce)
      pendingTxs.add(tx)
      return tx.outcome
    },
    committed: pendingTxs.committed,
    /** Pending transactions. */
    inFlight: pendingTxs.count,
    /** Whether a transaction of the account that was not signed here was found lately. */
    isKeyShared: foreignUse.isRecent,
    service: {
      name: poller.name,
      start: poller.start,
      async stop() {
        stopping.abort()
        await poller.stop()
        for (const tx of pendingTxs.all()) pendingTxs.finish(tx, { kind: 'stopped' })
        await sender.idle()
      },
    },
  }
}
