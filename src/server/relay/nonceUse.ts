import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import { sameAddress } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'

/** The transaction that has used a nonce of the account. */
export interface NonceUse {
  readonly hash: Hex
  /** A transfer to the account itself. */
  readonly isToItself: boolean
}

/**
 * Finds the transaction that has used the nonce. Undefined when no node can tell: it is in no block, or in one that is
 * older than the states which nodes keep.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export type FindNonceUse = (nonce: number, head: number) => Promise<NonceUse | undefined>

/** Most nodes forget the state of a block that has 128 on top. */
const MAX_DEPTH = 120

const transactionSchema = z.looseObject({
  hash: bytes32Schema,
  from: hexOf(20),
  to: hexOf(20).nullish(),
  // A rollup's own transactions may have none.
  nonce: smallQuantitySchema.nullish(),
})
const blockSchema = z.looseObject({ transactions: z.array(transactionSchema) }).nullable()

/** Asks for the account's count in one block after another, halving the range. */
export function createFindNonceUse(options: {
  readonly provider: Pick<RpcProvider, 'transport'>
  readonly address: Hex
}): FindNonceUse {
  const { provider, address } = options

  async function isUsedAt(nonce: number, block: number): Promise<boolean> {
    const params = [address, toQuantity(block)]
    const [answer] = await provider.transport.send([{ method: 'eth_getTransactionCount', params }])
    return resultOf(answer, smallQuantitySchema) > nonce
  }

  async function useIn(block: number, nonce: number): Promise<NonceUse | undefined> {
    const params = [toQuantity(block), true]
    const [answer] = await provider.transport.send([{ method: 'eth_getBlockByNumber', params }])
    const transactions = resultOf(answer, blockSchema)?.transactions ?? []
    const use = transactions.find((each) => each.nonce === nonce && sameAddress(each.from, address))
    return use && { hash: use.hash, isToItself: sameAddress(use.to ?? '', address) }
  }

  return async (nonce, head) => {
    let unused = Math.max(0, head - MAX_DEPTH)
    let used = head
    if ((await isUsedAt(nonce, unused)) || !(await isUsedAt(nonce, used))) return undefined
    while (used - unused > 1) {
      const middle = Math.floor((unused + used) / 2)
      if (await isUsedAt(nonce, middle)) used = middle
      else unused = middle
    }
    return useIn(used, nonce)
  }
}
