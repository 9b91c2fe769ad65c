import { id } from 'ethers'
import { z } from 'zod'
import { blockCall, resultOf, smallQuantitySchema, toQuantity } from '../../chain/jsonRpc.js'
import { decodeRevert, revertIn } from '../../chain/reverts.js'
import type { Rpc, RpcAnswer } from '../../chain/rpc.js'
import { sameAddress } from '../../protocol/address.js'
import type { Revert } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { RelayRecord } from '../store/receipts.js'
import { createFindMined } from '../txManager/confirmations.js'
import type { MinedTransaction } from '../txManager/pendingTx.js'

/** The relay's questions to the chain about one authorization. Every method rejects with ChainUnavailableError. */
export interface ChainView {
  /** Whether the authorization has taken effect, by any transaction: the one truth about it. */
  isUsed(target: Hex, digest: Hex): Promise<boolean>
  /** Whether the effect was there `confirmations` - 1 blocks below the head, or 100 where that is less: it counts then. */
  isDeep(target: Hex, digest: Hex): Promise<boolean>
  /** The latest block's number, and that of the block which has a transaction; null when none has it. */
  whereIs(hash: Hex): Promise<{ head: number; blockNumber: number | null }>
  /** Whether the block has the transaction. Nodes know that for longer than they find a transaction by its hash. */
  isIn(blockNumber: number, hash: Hex): Promise<boolean>
  /** The transaction of a record that succeeded, or null when none of them did. */
  effectOf(record: RelayRecord): Promise<MinedTransaction | null>
  /** Why a mined transaction reverted, where a node still knows. */
  reasonOf(record: RelayRecord, transaction: MinedTransaction): Promise<Revert>
}

interface ChainViewOptions {
  readonly rpc: Pick<Rpc, 'send'>
  /** The relayer's address. */
  readonly from: Hex
  /** Blocks that must hold an effect, its own included, before it counts. */
  readonly confirmations: number
}

/** The three contracts that take authorizations share this view. */
const USED_DIGEST = id('usedDigest(bytes32)').slice(0, 10)
/** Most nodes forget the state of a block that has 128 on top. */
const MAX_DEPTH = 100
const boolWord = z
  .string()
  .regex(/^0x0{63}[01]$/)
  .transform((word) => word.endsWith('1'))
/** A block may be older than the contract. */
const oldBoolWord = boolWord.or(z.literal('0x').transform(() => false))

const hashesSchema = z.looseObject({ transactions: z.array(bytes32Schema) }).nullable()

export function createChainView(options: ChainViewOptions): ChainView {
  const { rpc, from } = options
  const findMined = createFindMined(rpc)
  const depth = Math.min(options.confirmations - 1, MAX_DEPTH)

  async function usedDigest(target: Hex, digest: Hex, tag: string): Promise<RpcAnswer | undefined> {
    const data = USED_DIGEST + digest.slice(2)
    const [answer] = await rpc.send([{ method: 'eth_call', params: [{ to: target, data }, tag] }])
    return answer
  }

  async function headNumber(): Promise<number> {
    const [answer] = await rpc.send([{ method: 'eth_blockNumber', params: [] }])
    return resultOf(answer, smallQuantitySchema)
  }

  async function isUsed(target: Hex, digest: Hex): Promise<boolean> {
    return resultOf(await usedDigest(target, digest, 'latest'), boolWord)
  }

  async function isDeep(target: Hex, digest: Hex): Promise<boolean> {
    if (depth === 0) return true
    const block = (await headNumber()) - depth
    return block >= 0 && resultOf(await usedDigest(target, digest, toQuantity(block)), oldBoolWord)
  }

  async function replay({ receipt, data }: RelayRecord, blockTag: number): Promise<Revert | null> {
    const call = { from, to: receipt.target, data }
    const [answer] = await rpc.send([{ method: 'eth_call', params: [call, toQuantity(blockTag)] }])
    // A node may have forgotten the state of an old block: then the reason stays unknown.
    return revertIn(answer)
  }

  return {
    isUsed,
    isDeep,
    async whereIs(hash) {
      const [head, mined] = await Promise.all([headNumber(), findMined(hash)])
      return { head, blockNumber: mined?.blockNumber ?? null }
    },
    async isIn(blockNumber, hash) {
      const [answer] = await rpc.send([blockCall(blockNumber)])
      return resultOf(answer, hashesSchema)?.transactions.includes(hash) ?? false
    },
    async effectOf({ receipt: { target }, transactions }) {
      const found = await Promise.all(transactions.map(({ hash }) => findMined(hash)))
      // A no-op succeeds too, and has no effect.
      return found.find((mined) => mined?.succeeded && sameAddress(mined.to ?? '', target)) ?? null
    },
    async reasonOf(record, { blockNumber }) {
      // The obstacle is there after its block, or was there before it and is undone.
      const after = await replay(record, blockNumber)
      return after ?? (await replay(record, blockNumber - 1)) ?? decodeRevert('0x')
    },
  }
}
