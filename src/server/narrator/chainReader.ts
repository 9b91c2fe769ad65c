import { blockCall, blockSchema, isResult, resultOf } from '../../chain/jsonRpc.js'
import {
  type BlockId,
  type BlockRange,
  type ChainLog,
  type LogQuery,
  logRequest,
} from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import type { ContractAddresses } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { topicsOf, WATCHED } from './events.js'

/** The answers of one request. */
export interface ChainSnapshot {
  readonly head: BlockId
  /** The block that is now in the place of the one that was narrated last; null when there is none. */
  readonly before: BlockId | null
  /**
   * The narrated events of all five contracts in the range; undefined when the node does not have the range's last block.
   * @throws RangeRefusedError, or ChainAnswerError unless all five queries are answered, and of one history
   */
  readonly logs: () => { readonly logs: readonly ChainLog[]; readonly last: BlockId } | undefined
}

/** Reads the chain for the narrator. Every method rejects with ChainUnavailableError or ChainAnswerError. */
export interface ChainReader {
  /**
   * One HTTP request for the head, the events of the range after `last` if one is given, and the block that was narrated last.
   * That block comes last, so that a reorganization during the request is noticed.
   */
  look(last: number, range: BlockRange | undefined, signal?: AbortSignal): Promise<ChainSnapshot>
  /** The present hashes of blocks by their numbers, without the blocks that the node does not have. */
  hashes(numbers: readonly number[], signal?: AbortSignal): Promise<ReadonlyMap<number, Hex>>
}

export function createChainReader(options: {
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly contracts: ContractAddresses
}): ChainReader {
  const { rpc, contracts } = options
  // Many blocks in one request may be more than a provider's plan gives in a second.
  const lane = createReadLane(rpc)
  const queries = WATCHED.map(
    (contract): LogQuery => ({ address: contracts[contract], topics: [topicsOf(contract)] }),
  )

  return {
    async look(last, range, signal) {
      const request = range && logRequest(queries, range)
      // The request of a range ends with the block before it, which is the one that was narrated last.
      const calls = [blockCall('latest'), ...(request?.calls ?? [blockCall(last)])]
      const answers = await rpc.send(calls, signal)
      return {
        head: resultOf(answers[0], blockSchema),
        before: resultOf(answers.at(-1), blockSchema.nullable()),
        logs: () => request?.read(answers.slice(1)),
      }
    },
    async hashes(numbers, signal) {
      const answers = await Promise.all(numbers.map((number) => lane.send([blockCall(number)], signal)))
      const blocks = answers.map(([answer]) => blockSchema.safeParse(isResult(answer) ? answer.result : null))
      return new Map(
        blocks.flatMap(({ data }): [number, Hex][] => (data === undefined ? [] : [[data.number, data.hash]])),
      )
    },
  }
}
