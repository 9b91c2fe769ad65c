import { z } from 'zod'
import { quantitySchema, smallQuantitySchema } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import { sameAddress } from '../../protocol/address.js'
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
  /** The contracts that have logged in it: every effect of ours is logged. */
  readonly loggedBy: readonly Hex[]
}

/** Asks for the transaction of a hash; null when it is in no block. @throws ChainUnavailableError, ChainAnswerError */
export type FindMined = (hash: Hex) => Promise<MinedTransaction | null>

/** Where there is no contract a call succeeds as well, and does nothing. */
export function hasEffect({ succeeded, loggedBy }: MinedTransaction, target: Hex): boolean {
  return succeeded && loggedBy.some((address) => sameAddress(address, target))
}

/** What counts of a receipt. What its logs say is nobody's business here. */
const receiptSchema = z
  .object({
    transactionHash: bytes32Schema,
    to: hexOf(20).nullish(),
    blockNumber: smallQuantitySchema,
    blockHash: bytes32Schema,
    gasUsed: quantitySchema,
    status: z.enum(['0x0', '0x1']),
    logs: z.array(z.object({ address: hexOf(20) })),
  })
  .transform(
    ({ transactionHash, to, status, logs, ...block }): MinedTransaction => ({
      ...block,
      hash: transactionHash,
      to: to ?? null,
      succeeded: status === '0x1',
      loggedBy: logs.map(({ address }) => address),
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
