import { z } from 'zod'
import { quantitySchema, smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcCall, RpcTransport } from '../../chain/rpcTransport.js'
import { addressSchema } from '../../protocol/address.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { topicsOf, WATCHED, type WatchedContract } from './events.js'

const blockSchema = z.object({ number: smallQuantitySchema, hash: bytes32Schema })
export type BlockId = { readonly number: number; readonly hash: Hex }

/** Longer than the data of any event of ours. */
const MAX_LOG_DATA_BYTES = 65_536

const logSchema = z.object({
  address: addressSchema,
  topics: z.array(bytes32Schema).min(1).max(4),
  data: hexBetween(0, MAX_LOG_DATA_BYTES),
  blockNumber: smallQuantitySchema,
  blockHash: bytes32Schema,
  logIndex: smallQuantitySchema,
  /** Unix seconds; not every node says it. */
  blockTimestamp: quantitySchema.optional(),
})
/** An event of one of the contracts. */
export type ChainLog = z.output<typeof logSchema> & { readonly contract: WatchedContract }

/** What the narrator asks of the chain. Every method rejects with ChainUnavailableError or ChainAnswerError. */
export interface ChainReader {
  /** The head, and the block that now has this number, null when there is none. One HTTP request. */
  head(number: number, signal?: AbortSignal): Promise<{ head: BlockId; block: BlockId | null }>
  /**
   * The narrated events of all five contracts from one block to another, both included, in chain order, and the hash
   * of the last one. One query per contract over the same range, in one JSON-RPC batch; rejects unless all five are
   * answered, by a node that has the whole range: one that is behind returns fewer events rather than an error.
   */
  logs(from: number, to: number, signal?: AbortSignal): Promise<{ logs: ChainLog[]; hash: Hex }>
}

export function createChainReader(options: {
  readonly transport: RpcTransport
  readonly contracts: ContractAddresses
}): ChainReader {
  const { transport, contracts } = options

  function query(contract: WatchedContract, from: number, to: number): RpcCall {
    const filter = {
      address: contracts[contract],
      topics: [topicsOf(contract)],
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
    }
    return { method: 'eth_getLogs', params: [filter] }
  }

  return {
    async head(number, signal) {
      const blocks = ['latest', toQuantity(number)]
      const calls = blocks.map((block) => ({ method: 'eth_getBlockByNumber', params: [block, false] }))
      const [latest, at] = await transport.send(calls, signal)
      return { head: resultOf(latest, blockSchema), block: resultOf(at, blockSchema.nullable()) }
    },
    async logs(from, to, signal) {
      const queries = WATCHED.map((contract) => query(contract, from, to))
      const last = { method: 'eth_getBlockByNumber', params: [toQuantity(to), false] }
      const answers = await transport.send([...queries, last], signal)
      const { hash } = resultOf(answers[queries.length], blockSchema)
      const inRange = logSchema.refine((log) => log.blockNumber >= from && log.blockNumber <= to)
      const logs = WATCHED.flatMap((contract, index) => {
        const own = inRange.refine((log) => log.address === contracts[contract])
        return resultOf(answers[index], z.array(own)).map((log) => ({ ...log, contract }))
      }).sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
      return { logs, hash }
    },
  }
}
