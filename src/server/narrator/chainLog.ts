import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { hexOf, numberOf, wordOf } from '../../chain/logFields.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcAnswer } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'
import type { WatchedContract } from './events.js'
import type { RawLog } from './eventWords.js'

/** An event of one of the contracts. */
export interface ChainLog extends RawLog {
  readonly contract: WatchedContract
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
  /** Unix seconds; not every node says it. */
  readonly blockTimestamp: number | undefined
}

/** What one query asked for. */
interface Asked {
  readonly contract: WatchedContract
  /** In lower case. */
  readonly address: string
  readonly from: number
  readonly to: number
}

/** Longer than the data of any event of ours. */
const MAX_DATA_LENGTH = 2 + 2 * 65_536

/** The form alone: what stands in it is read by hand. */
const logsSchema = z.array(
  z.object({
    address: z.string(),
    topics: z.array(z.string()).min(1).max(4),
    data: z.string().max(MAX_DATA_LENGTH),
    blockNumber: z.string(),
    blockHash: z.string(),
    logIndex: z.string(),
    blockTimestamp: z.string().optional(),
  }),
)

/** The logs that one query found. @throws ChainAnswerError unless all are what was asked for */
export function logsOf(answer: RpcAnswer | undefined, { contract, address, from, to }: Asked): ChainLog[] {
  return resultOf(answer, logsSchema).map((log) => {
    const blockNumber = numberOf(log.blockNumber)
    const isAsked = log.address.toLowerCase() === address && blockNumber >= from && blockNumber <= to
    if (!isAsked) throw new ChainAnswerError('a node answered with events that it was not asked for')
    return {
      contract,
      topics: log.topics.map(wordOf),
      data: hexOf(log.data),
      blockNumber,
      blockHash: wordOf(log.blockHash),
      logIndex: numberOf(log.logIndex),
      blockTimestamp: log.blockTimestamp === undefined ? undefined : numberOf(log.blockTimestamp),
    }
  })
}
