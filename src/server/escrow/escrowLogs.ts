import { Interface, toQuantity } from 'ethers'
import { z } from 'zod'
import { ChainUnavailableError } from '../../chain/errors.js'
import { orderEscrowAbi } from '../../chain/generated/orderEscrowAbi.js'
import { addressIn, numberIn, numberOf, wordAt, wordOf } from '../../chain/logFields.js'
import { smallQuantitySchema } from '../../chain/quantity.js'
import { isRateLimited } from '../../chain/rpcRequest.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcAnswer, RpcCall, RpcTransport } from '../../chain/rpcTransport.js'
import type { Hex } from '../../protocol/hex.js'

/** Where an event lies on the chain. */
export interface ChainPosition {
  readonly block: number
  readonly logIndex: number
}

/** An escrow as it was opened. */
export interface OpenedOrder {
  readonly orderId: Hex
  readonly account: Hex
  readonly commit: Hex
  /** Of its `OrderOpened`. */
  readonly position: ChainPosition
}

interface EventPlace {
  /** One place in one version of the chain: after a reorganisation the same event has another. */
  readonly id: string
  readonly orderId: Hex
  readonly position: ChainPosition
  readonly txHash: Hex
}

/** What happened to an escrow. */
export type EscrowEvent = OpenedEvent | ClosedEvent

/** An escrow has been opened. */
export type OpenedEvent = EventPlace &
  OpenedOrder & {
    readonly kind: 'opened'
    /** Unix seconds. */
    readonly deadline: number
  }

/** An escrow has ended. */
export type ClosedEvent = EventPlace & { readonly kind: 'settled' | 'refunded' }

/** A block in one version of the chain: after a reorganisation its number has another hash. */
export interface BlockId {
  readonly number: number
  readonly hash: string
}

/** What a range of blocks holds. */
export interface EscrowRange {
  /** In their order. */
  readonly events: readonly EscrowEvent[]
  /** Hash of the block before the range; null when there is none. */
  readonly parentHash: string | null
  /** Hash of the range's last block. */
  readonly hash: string
}

/** Blocks and events of the escrow, straight from a node. Every method throws ChainUnavailableError, ChainAnswerError. */
export interface EscrowEvents {
  /** The latest block. */
  head(): Promise<BlockId>
  /** Unix seconds of a block; undefined when the node does not have it. */
  blockTime(block: number): Promise<number | undefined>
  /**
   * A range of blocks, both ends included. `lagging` when the node that answered has not got so far, `refused` when it
   * takes no such range (too many blocks, or too many events in them).
   * @param orderId of the only order to read of; all of them when left out
   */
  read(from: number, to: number, orderId?: Hex): Promise<EscrowRange | 'lagging' | 'refused'>
}

const blockSchema = z.looseObject({
  number: smallQuantitySchema,
  hash: z.string(),
  timestamp: smallQuantitySchema,
})
/** The form alone: what stands in it is read by hand. */
const logsSchema = z.array(
  z.object({
    topics: z.array(z.string()),
    data: z.string(),
    blockNumber: z.string(),
    blockHash: z.string(),
    logIndex: z.string(),
    transactionHash: z.string(),
  }),
)

const KINDS = { OrderOpened: 'opened', OrderSettled: 'settled', OrderRefunded: 'refunded' } as const
const escrowInterface = new Interface(orderEscrowAbi)
/** Kinds by topic 0. Looked up once: ethers hashes the signatures of a whole ABI again for every log that it parses. */
const kindByTopic = new Map(
  Object.entries(KINDS).map(([name, kind]) => [escrowInterface.getEvent(name)?.topicHash, kind]),
)
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
      const [latest] = await ask(blockCall('latest'))
      const { number, hash } = resultOf(latest, blockSchema)
      return { number, hash }
    },
    async blockTime(block) {
      const [found] = await ask(blockCall(toQuantity(block)))
      return resultOf(found, blockSchema.nullable())?.timestamp
    },
    async read(from, to, orderId) {
      const filter = {
        address: escrow,
        topics: orderId === undefined ? [TOPICS] : [TOPICS, orderId],
        fromBlock: toQuantity(from),
        toBlock: toQuantity(to),
      }
      const logsCall = { method: 'eth_getLogs', params: [filter] }
      // One request, so that one node answers all: a node that is behind returns fewer events, not an error.
      const [last, parent, logs] = await ask(
        blockCall(toQuantity(to)),
        blockCall(toQuantity(Math.max(0, from - 1))),
        logsCall,
      )
      const lastBlock = resultOf(last, blockSchema.nullable())
      if (lastBlock === null) return 'lagging'
      // That says nothing of the range.
      if (isRateLimited(logsCall, logs)) throw new ChainUnavailableError(1)
      if (logs !== undefined && 'error' in logs) return 'refused'
      const events = resultOf(logs, logsSchema).flatMap(toEvent).sort(inChainOrder)
      const parentBlock = from === 0 ? null : resultOf(parent, blockSchema.nullable())
      return { events, parentHash: parentBlock?.hash ?? null, hash: lastBlock.hash }
    },
  }
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
}

/** `OrderOpened` has orderId and account in its topics; amount, deadline and commit, a word each, in its data. */
function toEvent(log: z.output<typeof logsSchema>[number]): EscrowEvent[] {
  const [topic, orderId, account] = log.topics.map(wordOf)
  const kind = topic && kindByTopic.get(topic)
  if (kind === undefined || orderId === undefined) return []
  const position = { block: numberOf(log.blockNumber), logIndex: numberOf(log.logIndex) }
  const id = `${log.blockHash} ${position.logIndex}`
  const common = { id, orderId, position, txHash: wordOf(log.transactionHash) }
  if (kind !== 'opened') return [{ kind, ...common }]
  return [
    {
      kind,
      ...common,
      account: addressIn(account ?? ''),
      deadline: numberIn(wordAt(log.data, 1)),
      commit: wordAt(log.data, 2),
    },
  ]
}

function inChainOrder(a: EscrowEvent, b: EscrowEvent): number {
  return a.position.block - b.position.block || a.position.logIndex - b.position.logIndex
}

/** Is told of what was read of the chain anyway, so that it need not ask for it. Must not throw. */
export interface EscrowObserver {
  onHead(head: BlockId): void
  onEvents(events: readonly EscrowEvent[]): void
}

/** The same reads, each told to the observer. */
export function observedEvents(events: EscrowEvents, observer: EscrowObserver): EscrowEvents {
  return {
    ...events,
    async head() {
      const head = await events.head()
      observer.onHead(head)
      return head
    },
    async read(from, to, orderId) {
      const range = await events.read(from, to, orderId)
      if (typeof range !== 'string') observer.onEvents(range.events)
      return range
    },
  }
}
