import { type Fees, priceLimit } from '../../chain/fees.js'
import { isResult, quantitySchema } from '../../chain/jsonRpc.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { RelayerSigner } from '../signer/signer.js'
import { readTransaction, type SignedTransaction } from '../signer/transaction.js'
import { storageError } from '../store/engine.js'
import type { AccountView } from './account.js'
import type { Broadcaster } from './broadcast.js'
import { type FeeMarket, isOutbid, raisedFees } from './fees.js'
import {
  type Call,
  createPendingTx,
  isAccepted,
  isNoOp,
  isRefused,
  type Owner,
  type PendingTx,
  type PendingTxs,
} from './pendingTx.js'

/** A checked call with its gas limit. */
export interface CheckedCall extends Call {
  readonly gasLimit: bigint
}

/** Signs, saves and sends, in this order. Does not follow the outcome. */
export type Sender = ReturnType<typeof createSender>

/** The intrinsic gas of a transfer without data: G_transaction of the yellow paper. A rollup may ask for more. */
const TRANSFER_GAS = 21_000n
/** The gas of a no-op is counted when it is sent. */
const NO_OP_OWNER: Omit<Owner, 'save'> = {
  counted: () => undefined,
  isNeeded: async () => true,
  used: () => undefined,
  lost: () => undefined,
  dropped: () => undefined,
}

export function createSender(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly pendingTxs: Pick<PendingTxs, 'addTransaction'>
  /** Sends the requests of one turn in one batch. */
  readonly broadcaster: Broadcaster
  readonly signer: RelayerSigner
  /** Whether the account is known to be this process's own. Nothing new is signed otherwise. */
  readonly isTrusted: () => boolean
  readonly fees: FeeMarket
  readonly chainId: number
  /** Wei per gas that is never exceeded. */
  readonly maxFeePerGas: bigint
  /** Called with each transaction before it is sent. */
  readonly onSigned: (hash: Hex) => void
  /** Durable when it resolves. A no-op that is not saved is not sent. */
  readonly saveNoOp: Owner['save']
  /** Called with the gas of each no-op that fills a nonce gap. */
  readonly onNoOpSent: (gas: bigint) => void
  readonly logger: Logger
}) {
  const { rpc, pendingTxs, broadcaster, signer, fees, chainId, maxFeePerGas, logger } = options
  const broadcasts = new Set<Promise<void>>()

  /** A rollup adds the cost of its parent chain to the gas, which may rise a little before the transfer is mined. */
  async function noOp(): Promise<CheckedCall> {
    const call = { to: signer.address, data: '0x' } as const
    const [answer] = await rpc.send([
      { method: 'eth_estimateGas', params: [{ from: signer.address, ...call }] },
    ])
    const { data: estimate = 0n } = quantitySchema.safeParse(isResult(answer) ? answer.result : undefined)
    return { ...call, gasLimit: estimate > TRANSFER_GAS ? estimate + estimate / 4n : TRANSFER_GAS }
  }

  async function sign(call: CheckedCall, nonce: number, offered: Fees): Promise<SignedTransaction> {
    const { to, data, gasLimit } = call
    if (!options.isTrusted()) throw storageError('LEASE_NOT_TRUSTED')
    const signed = await signer.sign({ chainId, nonce, to, data, gasLimit, fees: offered })
    options.onSigned(signed.hash)
    return { nonce, ...signed }
  }

  async function write(call: CheckedCall, nonce: number, owner: Owner): Promise<PendingTx> {
    const offered = await fees()
    const signed = await sign(call, nonce, offered)
    await owner.save(signed)
    const { gasLimit } = call
    return createPendingTx([signed], owner, { gasLimit, maxCost: gasLimit * priceLimit(offered) })
  }

  async function broadcast(tx: PendingTx): Promise<void> {
    const sentAt = performance.now()
    tx.sentAt = sentAt
    const newest = tx.newest
    const sent = broadcaster.send(newest).then((answers) => {
      broadcasts.delete(sent)
      // It was sent again in between, and the later answer counts.
      if (tx.newest !== newest || tx.sentAt !== sentAt) return
      const { hash, nonce } = newest
      const wasAccepted = tx.answers === undefined || isAccepted(tx)
      tx.answers = answers
      if (isAccepted(tx) && !wasAccepted) tx.waitsSince = performance.now()
      if (!isAccepted(tx) && wasAccepted && tx.wasNext) {
        logger.warn('transaction refused by all nodes', { txHash: hash, nonce })
      }
    })
    broadcasts.add(sent)
    await sent
  }

  /** A different call offers the same fee where the ceiling allows no raise: a node that has none accepts it. */
  async function replace(tx: PendingTx, call: CheckedCall): Promise<void> {
    const previous = readTransaction(tx.newest.raw)
    const raised = raisedFees(previous.fees, await fees(), maxFeePerGas)
    if (raised !== null || call.to !== previous.to) {
      const signed = await sign(call, tx.nonce, raised ?? previous.fees)
      await tx.owner.save(signed)
      pendingTxs.addTransaction(tx, signed)
    }
    void broadcast(tx)
  }

  return {
    /** Signs and saves the call under this nonce. @throws what `save` throws, ChainUnavailableError, ChainAnswerError */
    write,
    /** Gives the newest transaction to the nodes. Resolves when they have answered; never rejects. */
    broadcast,
    /** Raises its fee if the ceiling allows, and sends it again in any case. */
    async resubmit(tx: PendingTx) {
      tx.waitsSince = performance.now()
      await replace(tx, readTransaction(tx.newest.raw))
      logger.warn('transaction resubmitted', { txHash: tx.newest.hash, nonce: tx.nonce })
    },
    /** Whether a transaction that is signed now would offer more. @throws ChainUnavailableError, ChainAnswerError */
    async isOutbid(tx: PendingTx): Promise<boolean> {
      return isOutbid(readTransaction(tx.newest.raw).fees, await fees())
    },
    /** Replaces a transaction that no node accepts with a no-op, so that later nonces can be mined. */
    async giveUp(tx: PendingTx) {
      tx.waitsSince = performance.now()
      if (!isNoOp(readTransaction(tx.newest.raw), signer.address))
        logger.warn('nonce filled: transaction refused by all nodes', { nonce: tx.nonce })
      return replace(tx, await noOp())
    },
    /**
     * Signs and saves a no-op for a nonce gap. No later term resumes it: if it is lost, the gap is found and filled again.
     * @throws what `saveNoOp` throws, ChainUnavailableError, ChainAnswerError
     */
    async fill(nonce: number): Promise<PendingTx> {
      logger.warn('nonce filled: nothing is known of its transaction', { nonce })
      const call = await noOp()
      const tx = await write(call, nonce, { ...NO_OP_OWNER, save: options.saveNoOp })
      options.onNoOpSent(call.gasLimit)
      return tx
    },
    /** Resolves when no broadcast is under way any more. */
    async idle() {
      await Promise.all(broadcasts)
    },
  }
}

/** Offers transactions to the nodes in the order of their nonces, and no further ahead than the nodes accept them. */
export type SendAhead = ReturnType<typeof createSendAhead>

/**
 * Some chains accept only the account's next nonce (Arbitrum's class), others a certain number ahead. So no transaction is
 * offered above a refused one. Once a node accepts that one, the next follows immediately.
 *
 * Nor are more offered than fit into one block by their gas limits: a node that fills a block may skip one that no longer fits, meet
 * smaller ones above it out of turn, and drop those from its pool.
 */
export function createSendAhead(options: {
  readonly pendingTxs: Pick<PendingTxs, 'of' | 'unordered'>
  readonly sender: Pick<Sender, 'broadcast'>
  readonly account: Pick<AccountView, 'blockGas'>
}) {
  const { pendingTxs, sender, account } = options
  let free = 0

  function isTooEarly({ nonce, gasLimit }: PendingTx): boolean {
    let gas = gasLimit
    for (const tx of pendingTxs.unordered()) {
      // Not those that are in a block, as far as a poll has found.
      if (tx.nonce >= nonce || tx.nonce < free || tx.blockNumber !== undefined) continue
      if (isRefused(tx)) return true
      gas += tx.gasLimit
    }
    const blockGas = account.blockGas()
    return gas > gasLimit && blockGas !== undefined && gas > blockGas
  }

  function offer(tx: PendingTx): void {
    if (isTooEarly(tx)) return
    void sender.broadcast(tx).then(() => {
      const next = pendingTxs.of(tx.nonce + 1)
      if (next !== undefined && isAccepted(tx) && isRefused(next)) offer(next)
    })
  }

  return {
    /** Whether it would be sent too early now. */
    isTooEarly,
    /** Sends it, unless that is too early: then it has to be offered again later. */
    offer,
    /** @param count the lowest nonce that is free on the chain */
    observeCount(count: number) {
      free = count
    },
  }
}
