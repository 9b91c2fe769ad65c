import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { type Break, createSeenHeads, type History } from './history.js'

/** What one node says of the chain and of the relayer's account, at one moment. */
export interface Look {
  /** Number of the latest block. */
  readonly head: number
  /** Transactions of the account in blocks: the lowest nonce that is free on the chain. */
  readonly count: number
  /** The lowest nonce that is free in the node's pool too. */
  readonly pending: number
  readonly history: History
}

export interface AccountView {
  /** One request. @throws ChainUnavailableError, ChainAnswerError */
  look(): Promise<Look>
  /** The worst that was seen since this was last asked, by whomever. */
  takeBreak(): Break | null
  /**
   * Whether the nonce was used by none of these transactions, and so many blocks below `head` that no node can just be
   * late. One request, so that it is one node that says both. @throws ChainUnavailableError, ChainAnswerError
   */
  isTaken(nonce: number, hashes: readonly Hex[], head: number): Promise<boolean>
}

/** A node may know of a count before it, or one behind the same URL, knows of the receipt: for some blocks, not for more. */
const TAKEN_DEPTH = 5

const blockSchema = z.looseObject({
  number: smallQuantitySchema,
  hash: bytes32Schema,
  parentHash: bytes32Schema.optional(),
})

export function createAccountView(options: {
  provider: Pick<RpcProvider, 'transport'>
  address: Hex
}): AccountView {
  const { provider, address } = options
  const heads = createSeenHeads()
  let broken: Break | null = null
  return {
    takeBreak() {
      const taken = broken
      broken = null
      return taken
    },
    async look() {
      const tip = heads.tip()
      const [latest, count, pending, atTip] = await provider.transport.send([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'pending'] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(tip ?? 0), false] },
      ])
      const head = resultOf(latest, blockSchema)
      const known =
        tip === undefined ? undefined : { number: tip, now: resultOf(atTip, blockSchema.nullable()) }
      const history = await heads.next(head, known, hashAt)
      // It may be a node that has become one of another chain.
      if (history === 'reset') provider.transport.doubt()
      if (history === 'reset' || (history === 'reorganized' && broken === null)) broken = history
      return {
        head: head.number,
        count: resultOf(count, smallQuantitySchema),
        pending: resultOf(pending, smallQuantitySchema),
        history,
      }
    },
    async isTaken(nonce, hashes, head) {
      if (head < TAKEN_DEPTH) return false
      const [count, atHead, ...receipts] = await provider.transport.send([
        { method: 'eth_getTransactionCount', params: [address, toQuantity(head - TAKEN_DEPTH)] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(head), false] },
        ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      ])
      const isThere = resultOf(atHead, blockSchema.nullable()) !== null
      const isUnknown = receipts.every((receipt) => resultOf(receipt, z.unknown()) === null)
      return isThere && isUnknown && resultOf(count, smallQuantitySchema) > nonce
    },
  }

  async function hashAt(number: number): Promise<Hex> {
    const [answer] = await provider.transport.send([
      { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] },
    ])
    return resultOf(answer, blockSchema).hash
  }
}
