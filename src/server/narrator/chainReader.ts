import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcAnswer, RpcCall, RpcTransport } from '../../chain/rpcTransport.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { type ChainLog, logsOf } from './chainLog.js'
import { topicsOf, WATCHED, type WatchedContract } from './events.js'
import { isRangeRefusal, RangeRefusedError } from './rangeRefusal.js'

const blockSchema = z.object({ number: smallQuantitySchema, hash: bytes32Schema })
export type BlockId = { readonly number: number; readonly hash: Hex }

const TWO_HISTORIES = 'the events are of two histories'

/** Blocks from one to another, both included. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** What one request found. */
export interface Look {
  readonly head: BlockId
  /** The hash of the block that was asked for; null when there is no such block. */
  readonly hash: Hex | null
  /**
   * The narrated events of all five contracts in the range, in chain order, and its last block; undefined when the node
   * does not have that block.
   * @throws RangeRefusedError, or ChainAnswerError unless all five queries are answered as they should, and of one history
   */
  readonly logs: () => { logs: ChainLog[]; last: BlockId } | undefined
}

/** What the narrator asks of the chain. Every method rejects with ChainUnavailableError or ChainAnswerError. */
export interface ChainReader {
  /**
   * The head, the block that now has this number, and the events of a range when there is one: one query per contract
   * over the same range, all in one HTTP request. The last block of the range is asked for before them, as a node that is
   * behind returns fewer events rather than an error, and again after them, as the events of two histories need not
   * contradict one another; the block with this number last, so that a change of what was told is noticed.
   */
  look(number: number, range: BlockRange | undefined, signal?: AbortSignal): Promise<Look>
  /** The hashes of the blocks that have these numbers now, by number, without those that the node does not give. */
  hashes(numbers: readonly number[], signal?: AbortSignal): Promise<ReadonlyMap<number, Hex>>
}

export function createChainReader(options: {
  readonly transport: RpcTransport
  readonly contracts: ContractAddresses
}): ChainReader {
  const { transport, contracts } = options

  function query(contract: WatchedContract, { from, to }: BlockRange): RpcCall {
    const filter = {
      address: contracts[contract],
      topics: [topicsOf(contract)],
      fromBlock: toQuantity(from),
      toBlock: toQuantity(to),
    }
    return { method: 'eth_getLogs', params: [filter] }
  }

  function inChainOrder(answers: readonly RpcAnswer[], last: BlockId, { from, to }: BlockRange): ChainLog[] {
    if (answers.some(isRangeRefusal)) throw new RangeRefusedError()
    const logs = WATCHED.flatMap((contract, index) =>
      logsOf(answers[index], { contract, address: contracts[contract].toLowerCase(), from, to }),
    ).sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    if (!isOneHistory(logs, last)) throw new ChainAnswerError(TWO_HISTORIES)
    return logs.filter((log, index) => !isSamePlace(log, logs[index - 1]))
  }

  return {
    async look(number, range, signal) {
      const queries = range === undefined ? [] : WATCHED.map((contract) => query(contract, range))
      const last = range === undefined ? [] : [blockCall(toQuantity(range.to))]
      const told = blockCall(toQuantity(number))
      const calls = [blockCall('latest'), ...last, ...queries, ...last, told]
      const answers = await transport.send(calls, signal)
      const [latest, end] = answers
      return {
        head: resultOf(latest, blockSchema),
        hash: resultOf(answers.at(-1), blockSchema.nullable())?.hash ?? null,
        logs() {
          const found = range === undefined ? null : resultOf(end, blockSchema.nullable())
          if (range === undefined || found === null) return undefined
          const after = resultOf(answers.at(-2), blockSchema.nullable())
          if (after?.hash !== found.hash) throw new ChainAnswerError(TWO_HISTORIES)
          return { logs: inChainOrder(answers.slice(2, -2), found, range), last: found }
        },
      }
    },
    async hashes(numbers, signal) {
      const answers = await transport.send(
        numbers.map((number) => blockCall(toQuantity(number))),
        signal,
      )
      const blocks = answers.map((answer) => blockSchema.safeParse('result' in answer ? answer.result : null))
      return new Map(
        blocks.flatMap(({ data }): [number, Hex][] => (data === undefined ? [] : [[data.number, data.hash]])),
      )
    },
  }
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
}

/** A node may list an event twice. */
function isSamePlace(log: ChainLog, other: ChainLog | undefined): boolean {
  return log.blockNumber === other?.blockNumber && log.logIndex === other.logIndex
}

/** Whether the events of each block are of one block, and those of the last one of that one: a node may change its mind between two queries. */
function isOneHistory(logs: readonly ChainLog[], last: BlockId): boolean {
  return logs.every(({ blockNumber, blockHash }, index) => {
    const next = logs[index + 1]
    const other = next?.blockNumber === blockNumber ? next.blockHash : undefined
    const own = blockNumber === last.number ? last.hash : blockHash
    return blockHash === own && blockHash === (other ?? own)
  })
}
