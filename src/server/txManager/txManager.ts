import type { Rpc } from '../../chain/rpc.js'
import { createPoller, type Service } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { createSemaphore } from '../../service/semaphore.js'
import type { RelayerSigner } from '../signer/signer.js'
import type { KeptTransaction } from '../signer/transaction.js'
import { createAccountView, createFindNonceUse, createForeignUse, type ForeignUse } from './account.js'
import type { Broadcaster } from './broadcast.js'
import {
  createConfirmations,
  createConfirmedTransactions,
  createFindMined,
  createGasMeter,
  createLostTransactions,
  type FindMined,
  type GasMeter,
  type LostTransactions,
} from './confirmations.js'
import type { FeeMarket } from './fees.js'
import { createMonitor, createNonceGaps, createResubmission } from './monitor.js'
import { createNonceManager } from './nonceManager.js'
import {
  type Commitments,
  createPendingTx,
  createPendingTxs,
  type Owner,
  type PendingTx,
  type PendingTxs,
  type TxOutcome,
} from './pendingTx.js'
import { type CheckedCall, createSendAhead, createSender, type SendAhead, type Sender } from './sender.js'

interface TxManagerOptions {
  readonly rpc: Pick<Rpc, 'send' | 'doubt'>
  /** Sends the requests of one turn in one batch. */
  readonly broadcaster: Broadcaster
  /** How long a node whose blocks are known may be behind, in place of the usual time. */
  readonly trailingMs?: number | undefined
  readonly signer: RelayerSigner
  /** Whether the account is known to be this process's own. Nothing new is signed otherwise. */
  readonly isTrusted: () => boolean
  readonly fees: FeeMarket
  readonly chainId: number
  /** Blocks that must hold a transaction, its own included, before it counts. */
  readonly confirmations: number
  /** How many transactions may be unmined at the same time. */
  readonly maxInFlight: number
  /** Transactions that are sent while a lower nonce is in no block; undefined: as many as the nodes take. */
  readonly maxSentAhead?: number | undefined
  /** A transaction that is not mined after this long is resubmitted with a higher fee. */
  readonly resubmitAfterMs: number
  /** Pause between two looks at the chain while a transaction is pending. */
  readonly pollIntervalMs: number
  /** Wei per gas that is never exceeded. */
  readonly maxFeePerGas: bigint
  /** Durable when it resolves. A no-op that is not saved is not sent. */
  readonly saveNoOp: Owner['save']
  /** Called with the gas of each no-op that fills a nonce gap. */
  readonly onNoOpSent: (gas: bigint) => void
  /** Called for each transaction of the account that was not signed here. */
  readonly onForeign: () => void
  readonly logger: Logger
}

/** The one user of the relayer's account: gets calls mined, many at a time, and leaves no nonce gap. */
export interface TxManager {
  /**
   * Signs the call under the next nonce, saves it, broadcasts it and follows it. Resubmits it with a higher fee when it
   * is not mined in time. Waits for a permit when too many are pending.
   *
   * @throws what `save` throws, and ChainUnavailableError: nothing was sent then, and no nonce used
   */
  send(call: CheckedCall, owner: Owner): Promise<TxOutcome>
  /**
   * Follows transactions that an earlier term signed, oldest first: they may have been broadcast, or mined. The newest is
   * sent again only once a look at the chain shows that none is mined.
   */
  resume(transactions: readonly KeptTransaction[], owner: Owner): Promise<TxOutcome>
  /** Whether a call would have to wait for a permit now. */
  isFull(): boolean
  committed(): Commitments
  /** Pending transactions. */
  inFlight(): number
  /** Whether a transaction of the account that was not signed here was found lately. */
  isKeyShared(): boolean
  readonly service: Service
}

export function createTxManager(options: TxManagerOptions): TxManager {
  const findMined = createFindMined(options.rpc)
  const gasMeter = createGasMeter()
  const lost = createLostTransactions({ findMined, gasMeter })
  const pendingTxs = createPendingTxs(lost.add)
  const semaphore = createSemaphore(options.maxInFlight)
  const { rpc, signer, pollIntervalMs: intervalMs, logger } = options
  const foreignUse = createForeignUse({
    findNonceUse: createFindNonceUse({ rpc, address: signer.address }),
    isTrusted: options.isTrusted,
    onTaken: lost.taken,
    onForeign: options.onForeign,
    logger,
  })
  const sender = createSender({ ...options, pendingTxs, onSigned: foreignUse.noteOwn })
  const stopping = new AbortController()
  const sendAhead = createSendAhead({ pendingTxs, sender, limit: options.maxSentAhead })
  const { nonceManager, look } = createMonitoring(
    { ...options, findMined, gasMeter, lost, foreignUse, pendingTxs, sender, sendAhead },
    stopping.signal,
  )
  const poller = createPoller({ name: 'tx-manager', intervalMs, tick: look, logger })

  async function open(call: CheckedCall, owner: Owner): Promise<PendingTx | undefined> {
    const nonce = await nonceManager.acquire()
    if (nonce === undefined) return undefined
    try {
      const tx = await sender.write(call, nonce, owner)
      // Without an await between the two, so that its cost is always counted in exactly one place.
      pendingTxs.add(tx)
      owner.counted()
      return tx
    } catch (error) {
      nonceManager.recycle(nonce)
      throw error
    }
  }

  return {
    async send(call, owner) {
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
        // A transaction in a block takes up no room in the nodes' pools.
        semaphore.release()
      }
    },
    async resume(transactions, owner) {
      if (stopping.signal.aborted) return { kind: 'stopped' }
      for (const { hash } of transactions) foreignUse.noteOwn(hash)
      const tx = createPendingTx(transactions, owner)
      semaphore.occupy()
      void tx.mined.then(semaphore.release)
      nonceManager.reserve(tx.nonce)
      pendingTxs.add(tx)
      return tx.outcome
    },
    isFull: semaphore.isFull,
    committed: pendingTxs.committed,
    inFlight: pendingTxs.count,
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

/** Wires the parts that look at the chain. */
function createMonitoring(
  parts: TxManagerOptions & {
    readonly findMined: FindMined
    readonly gasMeter: GasMeter
    readonly lost: LostTransactions
    readonly foreignUse: ForeignUse
    readonly pendingTxs: PendingTxs
    readonly sender: Sender
    readonly sendAhead: SendAhead
  },
  stopping: AbortSignal,
) {
  const { rpc, signer, findMined } = parts
  const account = createAccountView({ rpc, address: signer.address, trailingMs: parts.trailingMs })
  const nonceManager = createNonceManager(account, stopping, parts.foreignUse.suspect)
  const confirmed = createConfirmedTransactions(findMined)
  const shared = { ...parts, address: signer.address, account, nonceManager, confirmed }
  const monitor = createMonitor({
    ...shared,
    confirmations: createConfirmations(shared),
    resubmission: createResubmission(shared),
    gaps: createNonceGaps(shared),
  })
  return { nonceManager, look: monitor.look }
}
