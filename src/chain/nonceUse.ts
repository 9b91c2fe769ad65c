import { z } from 'zod/mini'
import { sameAddress } from '../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../protocol/hex.js'
import { firstBlockSince } from './blockTimes.js'
import { isResult, resultOf, smallQuantitySchema, toQuantity } from './jsonRpc.js'
import type { Rpc } from './rpc.js'

/** The transaction that has used a nonce of the account. */
interface NonceUse {
  readonly hash: Hex
  /** A transfer to the account itself. */
  readonly isToItself: boolean
}

/**
 * Finds the transaction that used the nonce. Undefined when it is in no block, or in one that is
 * older than the states which nodes keep.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export type FindNonceUse = (nonce: number, head: number) => Promise<NonceUse | undefined>

/** Most nodes forget the state of a block that has 128 on top; some keep less. */
const MAX_DEPTH = 120

const transactionSchema = z.looseObject({
  hash: bytes32Schema,
  from: hexOf(20),
  to: z.nullish(hexOf(20)),
  // A rollup's own transactions may have none.
  nonce: z.nullish(smallQuantitySchema),
})
const fullBlockSchema = z.nullable(z.looseObject({ transactions: z.array(transactionSchema) }))

/** Asks for the account's count in one block after another, halving the range. */
export function createFindNonceUse(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly address: Hex
}): FindNonceUse {
  const { rpc, address } = options

  /** Undefined where the node has no state of the block. */
  async function countAt(block: number): Promise<number | undefined> {
    const params = [address, toQuantity(block)]
    const [answer] = await rpc.send([{ method: 'eth_getTransactionCount', params }])
    return isResult(answer) ? resultOf(answer, smallQuantitySchema) : undefined
  }

  return async (nonce, head) => {
    if (((await countAt(head)) ?? 0) <= nonce) return undefined
    const lowest = Math.max(0, head - MAX_DEPTH)
    const used = await firstBlockSince((above) => countAt(lowest + above), nonce + 1, head - lowest)
    const params = [toQuantity(lowest + used), true]
    const [answer] = await rpc.send([{ method: 'eth_getBlockByNumber', params }])
    const transactions = resultOf(answer, fullBlockSchema)?.transactions ?? []
    const use = transactions.find((each) => each.nonce === nonce && sameAddress(each.from, address))
    return use && { hash: use.hash, isToItself: sameAddress(use.to ?? '', address) }
  }
}
