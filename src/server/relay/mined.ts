import { z } from 'zod'
import { quantitySchema, smallQuantitySchema } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'

/** A transaction that is in a block. */
export interface MinedTransaction {
  readonly hash: Hex
  readonly to: Hex | null
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly gasUsed: bigint
  /** False when it reverted. */
  readonly succeeded: boolean
}

/** Asks for the transaction of a hash; null when it is in no block. @throws ChainUnavailableError, ChainAnswerError */
export type FindMined = (hash: Hex) => Promise<MinedTransaction | null>

/** What counts of a receipt: its logs, which are most of it, are nobody's business here. */
const receiptSchema = z
  .object({
    transactionHash: bytes32Schema,
    to: hexOf(20).nullish(),
    blockNumber: smallQuantitySchema,
    blockHash: bytes32Schema,
    gasUsed: quantitySchema,
    status: z.enum(['0x0', '0x1']),
  })
  .transform(
    ({ transactionHash, to, status, ...block }): MinedTransaction => ({
      ...block,
      hash: transactionHash,
      to: to ?? null,
      succeeded: status === '0x1',
    }),
  )
  .nullable()

/** @param transport gathers what is asked in one turn */
export function createFindMined(transport: Pick<RpcTransport, 'send'>): FindMined {
  return async (hash) => {
    const [answer] = await transport.send([{ method: 'eth_getTransactionReceipt', params: [hash] }])
    return resultOf(answer, receiptSchema)
  }
}
