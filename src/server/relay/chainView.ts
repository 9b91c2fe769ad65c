import type { BlockTag } from 'ethers'
import * as z from 'zod'
import { createCorporateActions, createOrderEscrow, LISTED } from '../../chain/contracts.js'
import { isEnactment } from '../../chain/enactmentCall.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { blockCall, resultOf, smallQuantitySchema, toQuantity } from '../../chain/jsonRpc.js'
import { openedByCall } from '../../chain/openingCall.js'
import { decodeRevert, revertIn } from '../../chain/reverts.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { sameAddress } from '../../protocol/address.js'
import type { Revert } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { RelayRecord } from '../store/receipts.js'
import { createFindMined } from '../txManager/confirmations.js'
import type { MinedTransaction } from '../txManager/pendingTx.js'
import type { VerifiedAuthorization } from './authorization.js'

/** An authorization, an opening or an enactment, as the call that brings it to the chain. */
type RelayedCall = Pick<VerifiedAuthorization, 'target' | 'digest' | 'data'>

/** The relay's questions to the chain about one authorization. Every method rejects with ChainUnavailableError. */
export type ChainView = ReturnType<typeof createChainView>

/** Most nodes forget the state of a block that has 128 on top. */
const MAX_DEPTH = 100

const hashesSchema = z.looseObject({ transactions: z.array(bytes32Schema) }).nullable()

export function createChainView(options: {
  readonly rpc: Pick<Rpc, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  /** Blocks that must hold an effect, its own included, before it counts. */
  readonly confirmations: number
}) {
  const { rpc, from } = options
  const findMined = createFindMined(rpc)
  const caller = createViewCaller(rpc)
  const depth = Math.min(options.confirmations - 1, MAX_DEPTH)

  async function hasEffect({ target, digest, data }: RelayedCall, block: BlockTag): Promise<boolean> {
    if (isEnactment(data)) {
      return (await createCorporateActions(caller, target).effectiveAt(digest, block)) === LISTED
    }
    // The three contracts that accept authorizations all have `usedDigest`.
    const { usedDigest, orders } = createOrderEscrow(caller, target)
    const order = openedByCall(data)
    if (order === null) return usedDigest(digest, block)
    // The escrow has, or had, exactly this order: its id is never used twice. One that was opened by a signature holds no shares.
    const { account, amount, deadline, commit, shares } = await orders(order.orderId, block)
    const isOfAccount = sameAddress(account, order.account) && amount === order.amount
    return isOfAccount && deadline === order.deadline && commit === order.commit && shares === 0n
  }

  async function headNumber(): Promise<number> {
    const [answer] = await rpc.send([{ method: 'eth_blockNumber', params: [] }])
    return resultOf(answer, smallQuantitySchema)
  }

  async function replay({ receipt, data }: RelayRecord, blockTag: number): Promise<Revert | null> {
    const call = { from, to: receipt.target, data }
    const [answer] = await rpc.send([{ method: 'eth_call', params: [call, toQuantity(blockTag)] }])
    // A node may have forgotten the state of an old block: then the reason stays unknown.
    return revertIn(answer)
  }

  return {
    /** Whether it is effective, by any transaction: the one truth about it. An opening is once its very order is there. */
    isUsed: (call: RelayedCall) => hasEffect(call, 'latest'),
    /** Whether the effect was there `confirmations` - 1 blocks below the head, or 100 where that is less: it counts then. */
    async isDeep(call: RelayedCall): Promise<boolean> {
      if (depth === 0) return true
      const block = (await headNumber()) - depth
      if (block < 0) return false
      return hasEffect(call, block).catch((error: unknown) => {
        // The block may be older than the contract.
        if (error instanceof ChainAnswerError) return false
        throw error
      })
    },
    /** The latest block's number, and that of the block which has a transaction; null when none has it. */
    async whereIs(hash: Hex): Promise<{ head: number; blockNumber: number | null }> {
      const [head, mined] = await Promise.all([headNumber(), findMined(hash)])
      return { head, blockNumber: mined?.blockNumber ?? null }
    },
    /** Whether the block has the transaction. Nodes keep blocks for longer than their index of transactions by hash. */
    async isIn(blockNumber: number, hash: Hex): Promise<boolean> {
      const [answer] = await rpc.send([blockCall(blockNumber)])
      return resultOf(answer, hashesSchema)?.transactions.includes(hash) ?? false
    },
    /** The transaction of a record that succeeded, or null when none of them did. */
    async effectOf({ receipt: { target }, transactions }: RelayRecord): Promise<MinedTransaction | null> {
      const found = await Promise.all(transactions.map(({ hash }) => findMined(hash)))
      // A no-op succeeds too, and has no effect.
      return found.find((mined) => mined?.succeeded && sameAddress(mined.to ?? '', target)) ?? null
    },
    /** Why a mined transaction reverted, where a node still knows. */
    async reasonOf(record: RelayRecord, { blockNumber }: MinedTransaction): Promise<Revert> {
      // The cause is in the state after its block, or was in the state before it and has been undone.
      const after = await replay(record, blockNumber)
      return after ?? (await replay(record, blockNumber - 1)) ?? decodeRevert('0x')
    },
  }
}
