import { Interface, toQuantity } from 'ethers'
import { z } from 'zod'
import { ChainAnswerError } from '../../chain/errors.js'
import { orderEscrowAbi } from '../../chain/generated/orderEscrowAbi.js'
import type { RpcAnswer, RpcCall, RpcTransport } from '../../chain/rpcTransport.js'
import { addressValue, bytes32Value } from '../../chain/values.js'
import type { Hex } from '../../protocol/hex.js'
import type { ChainPosition, OpenedOrder } from './trackedOrder.js'

/** What happened to an escrow. */
export type EscrowEvent =
  | ({ readonly kind: 'opened'; readonly id: string } & OpenedOrder)
  | {
      readonly kind: 'settled' | 'refunded'
      /** One place in one version of the chain: after a reorganisation the same event has another. */
      readonly id: string
      readonly orderId: Hex
      readonly position: ChainPosition
    }

/** Blocks and events of the escrow, straight from a node. Every method throws ChainUnavailableError, ChainAnswerError. */
export interface EscrowEvents {
  /** Number of the latest block. */
  head(): Promise<number>
  /** Unix seconds of a block; undefined when the node does not have it. */
  blockTime(block: number): Promise<number | undefined>
  /**
   * The events of a range of blocks, both ends included, in their order. `lagging` when the node that answered has
   * not got so far, `refused` when it takes no such range (too many blocks, or too many events in them).
   */
  read(from: number, to: number): Promise<readonly EscrowEvent[] | 'lagging' | 'refused'>
}

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/)
  .transform(Number)
const blockSchema = z.looseObject({ timestamp: quantity }).nullable()
const logSchema = z.looseObject({
  topics: z.array(bytes32Value),
  data: z.string().regex(/^0x(?:[0-9a-f]{64})*$/),
  blockNumber: quantity,
  blockHash: z.string(),
  logIndex: quantity,
})

const KINDS = { OrderOpened: 'opened', OrderSettled: 'settled', OrderRefunded: 'refunded' } as const
const escrowInterface = new Interface(orderEscrowAbi)
/** Kinds by topic 0. Looked up once: ethers hashes the signatures of a whole ABI again for every log that it parses. */
const kindByTopic = new Map(
  Object.entries(KINDS).map(([name, kind]) => [escrowInterface.getEvent(name)?.topicHash, kind]),
)
/** Hex digits of an ABI word. */
const WORD = 64
const TOPICS = [...kindByTopic.keys()]

export function createEscrowEvents(options: {
  readonly transport: RpcTransport
  readonly escrow: Hex
  /** Aborts when the server begins to stop: every call then fails at once. */
  readonly stopping: AbortSignal
}): EscrowEvents {
  const { transport, escrow, stopping } = options
  async function ask(...calls: RpcCall[]): Promise<RpcAnswer[]> {
    stopping.throwIfAborted()
    return transport.send(calls, stopping)
  }
  return {
    async head() {
      const [answer] = await ask({ method: 'eth_blockNumber', params: [] })
      return quantity.parse(resultOf(answer))
    },
    async blockTime(block) {
      const [answer] = await ask({ method: 'eth_getBlockByNumber', params: [toQuantity(block), false] })
      return blockSchema.parse(resultOf(answer))?.timestamp
    },
    async read(from, to) {
      const filter = {
        address: escrow,
        topics: [TOPICS],
        fromBlock: toQuantity(from),
        toBlock: toQuantity(to),
      }
      // One request, so that one node answers both: a node that is behind returns fewer events, not an error.
      const [head, logs] = await ask(
        { method: 'eth_blockNumber', params: [] },
        { method: 'eth_getLogs', params: [filter] },
      )
      if (quantity.parse(resultOf(head)) < to) return 'lagging'
      if (logs !== undefined && 'error' in logs) return 'refused'
      return z.array(logSchema).parse(resultOf(logs)).flatMap(toEvent).sort(inChainOrder)
    },
  }
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined || 'error' in answer) throw new ChainAnswerError('the node refused a call')
  return answer.result
}

/** `OrderOpened` has orderId and account in its topics; amount, deadline and commit, a word each, in its data. */
function toEvent({ topics, data, ...log }: z.output<typeof logSchema>): EscrowEvent[] {
  const [topic, orderId, accountWord] = topics
  const kind = kindByTopic.get(topic)
  if (kind === undefined || orderId === undefined) return []
  const position = { block: log.blockNumber, logIndex: log.logIndex }
  const common = { id: `${log.blockHash} ${log.logIndex}`, orderId, position }
  if (kind !== 'opened') return [{ kind, ...common }]
  const account = addressValue.parse(`0x${accountWord?.slice(-40)}`)
  const commit = bytes32Value.parse(`0x${data.slice(2 + 2 * WORD, 2 + 3 * WORD)}`)
  return [{ kind, ...common, account, commit }]
}

function inChainOrder(a: EscrowEvent, b: EscrowEvent): number {
  return a.position.block - b.position.block || a.position.logIndex - b.position.logIndex
}
