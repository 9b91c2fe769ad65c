import { id } from 'ethers'
import { z } from 'zod'
import { interfaces } from '../../chain/interfaces.js'
import { blockCall, resultOf, smallQuantitySchema, toQuantity } from '../../chain/jsonRpc.js'
import { openedByCall, type SignedOrder } from '../../chain/openingCall.js'
import { decodeRevert, revertIn } from '../../chain/reverts.js'
import type { Rpc, RpcAnswer } from '../../chain/rpc.js'
import { wordOf } from '../../protocol/abiWord.js'
import { sameAddress } from '../../protocol/address.js'
import type { Revert } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { RelayRecord } from '../store/receipts.js'
import { createFindMined } from '../txManager/confirmations.js'
import type { MinedTransaction } from '../txManager/pendingTx.js'

/** An authorization or an opening, as the call that takes it to the chain. */
interface RelayedCall {
  readonly target: Hex
  readonly digest: Hex
  readonly data: Hex
}

/** The relay's questions to the chain about one authorization. Every method rejects with ChainUnavailableError. */
export type ChainView = ReturnType<typeof createChainView>

/** A view of all three contracts that take authorizations. */
const USED_DIGEST = id('usedDigest(bytes32)').slice(0, 10)
/** Most nodes forget the state of a block that has 128 on top. */
const MAX_DEPTH = 100
const boolWord = z
  .string()
  .regex(/^0x0{63}[01]$/)
  .transform((word) => word.endsWith('1'))
/** A block may be older than the contract. */
const oldBoolWord = boolWord.or(z.literal('0x').transform(() => false))

/** The members of `OrderEscrow.orders`, a word each: account, amount, deadline, commit, orgId, state, symbol, shares. */
const ORDER_WORDS = 8
const WORD_DIGITS = 64
const orderWords = z
  .string()
  .regex(new RegExp(`^0x[0-9a-f]{${ORDER_WORDS * WORD_DIGITS}}$`))
  .transform((answer) => answer.slice(2))
const oldOrder = orderWords.or(z.literal('0x').transform(() => null))

const encodeOrdersCall = (orderId: Hex) => interfaces.orderEscrow.encodeFunctionData('orders', [orderId])

/** An order that was opened by a signature holds no shares. */
const NO_SHARES = '0'.repeat(2 * WORD_DIGITS)

/** Whether the escrow has, or had, exactly this order: its id is never used twice. */
function isSameOrder(words: string, { account, amount, deadline, commit }: SignedOrder): boolean {
  const expected =
    wordOf('address', account) +
    wordOf('uint256', amount) +
    wordOf('uint64', BigInt(deadline)) +
    wordOf('bytes32', commit)
  return words.startsWith(expected) && words.endsWith(NO_SHARES)
}

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
  const depth = Math.min(options.confirmations - 1, MAX_DEPTH)

  async function view({ target }: RelayedCall, data: string, tag: string): Promise<RpcAnswer | undefined> {
    const [answer] = await rpc.send([{ method: 'eth_call', params: [{ to: target, data }, tag] }])
    return answer
  }

  /** @param isOld whether the block may be older than the contract */
  async function hasEffect(call: RelayedCall, tag: string, isOld: boolean): Promise<boolean> {
    const order = openedByCall(call.data)
    if (order === null) {
      const answer = await view(call, USED_DIGEST + call.digest.slice(2), tag)
      return resultOf(answer, isOld ? oldBoolWord : boolWord)
    }
    const words = resultOf(
      await view(call, encodeOrdersCall(order.orderId), tag),
      isOld ? oldOrder : orderWords,
    )
    return words !== null && isSameOrder(words, order)
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
    /** Whether it has taken effect, by any transaction: the one truth about it. An opening has once its very order is there. */
    isUsed: (call: RelayedCall) => hasEffect(call, 'latest', false),
    /** Whether the effect was there `confirmations` - 1 blocks below the head, or 100 where that is less: it counts then. */
    async isDeep(call: RelayedCall): Promise<boolean> {
      if (depth === 0) return true
      const block = (await headNumber()) - depth
      return block >= 0 && (await hasEffect(call, toQuantity(block), true))
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
