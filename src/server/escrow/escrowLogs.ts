import { blockTime, firstBlockSince } from '../../chain/blockTimes.js'
import { FINAL_DEPTH, fitOf } from '../../chain/blockTracker.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { interfaces } from '../../chain/interfaces.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import {
  addressIn,
  type BlockId,
  type BlockRange,
  type ChainLog,
  createPieceReader,
  type LogPiece,
  logRequest,
  numberIn,
  type PieceReader,
  wordAt,
} from '../../chain/logReader.js'
import type { Rpc, RpcCall } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'

export interface ChainPosition {
  readonly block: number
  readonly logIndex: number
}

export interface OpenedOrder {
  readonly orderId: Hex
  readonly account: Hex
  readonly commit: Hex
  readonly position: ChainPosition
}

interface EscrowEventBase extends Pick<OpenedOrder, 'orderId' | 'position'> {
  /** Block hash and log index: after a reorganization the same event has another id. */
  readonly id: string
  readonly txHash: Hex
}

export type EscrowEvent = OpenedEvent | ClosedEvent

export type OpenedEvent = EscrowEventBase &
  OpenedOrder & {
    readonly kind: 'opened'
    /** Unix seconds. */
    readonly deadline: number
  }

export type ClosedEvent = EscrowEventBase & { readonly kind: 'settled' | 'refunded' }

export interface EscrowPiece extends Pick<LogPiece, 'parent' | 'last'> {
  /** The events in their order. */
  readonly events: readonly EscrowEvent[]
}

/** Blocks and events of the escrow, straight from a node. Every method throws ChainUnavailableError, ChainAnswerError. */
export type EscrowEvents = ReturnType<typeof createEscrowEvents>

const KINDS = { OrderOpened: 'opened', OrderSettled: 'settled', OrderRefunded: 'refunded' } as const
/** Kinds by topic 0. Resolved once: ethers hashes the signatures of a whole ABI again for every log that it parses. */
const kindByTopic = new Map(
  Object.entries(KINDS).map(([name, kind]) => [interfaces.orderEscrow.getEvent(name)?.topicHash, kind]),
)
const TOPICS = [...kindByTopic.keys()].filter((topic) => topic !== undefined)

export function createEscrowEvents(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly escrow: Hex
  /** Aborts when the server or the term begins to stop: every call then fails immediately. */
  readonly stopping: AbortSignal
  readonly observer?: EscrowObserver
}) {
  const { rpc, escrow, stopping, observer } = options
  async function send(calls: readonly RpcCall[]) {
    stopping.throwIfAborted()
    return rpc.send(calls, stopping)
  }
  return {
    async head(): Promise<BlockId> {
      const [latest] = await send([blockCall('latest')])
      const { number, hash } = resultOf(latest, blockSchema)
      observer?.onHead({ number, hash })
      return { number, hash }
    },
    /** Unix seconds of a block; undefined when the node does not have it. */
    blockTime: (block: number) => blockTime({ send }, block),
    /**
     * Undefined when the node does not have the range's last block.
     * @param orderId reads the events of this order only
     * @throws RangeRefusedError
     */
    async read(range: BlockRange, orderId?: Hex): Promise<EscrowPiece | undefined> {
      const topics = orderId === undefined ? [TOPICS] : [TOPICS, orderId]
      const request = logRequest([{ address: escrow, topics }], range)
      const piece = request.read(await send(request.calls))
      if (piece === undefined) return undefined
      const { logs, parent, last } = piece
      const events = logs.flatMap(toEvent)
      observer?.onEvents(events)
      return { events, parent, last }
    },
  }
}

/** `OrderOpened` has orderId and account in its topics; amount, deadline and commit, a word each, in its data. */
function toEvent({ topics, data, blockHash, blockNumber, logIndex, txHash }: ChainLog): EscrowEvent[] {
  const [topic, orderId, account] = topics
  const kind = topic && kindByTopic.get(topic)
  if (kind === undefined || orderId === undefined) return []
  const position = { block: blockNumber, logIndex }
  const common = { id: `${blockHash} ${logIndex}`, orderId, position, txHash }
  if (kind !== 'opened') return [{ kind, ...common }]
  return [
    {
      kind,
      ...common,
      account: addressIn(account ?? ''),
      deadline: numberIn(wordAt(data, 1)),
      commit: wordAt(data, 2),
    },
  ]
}

/** Observes reads of the chain, which spares the observer reads of its own. Must not throw. */
export interface EscrowObserver {
  onHead(head: BlockId): void
  onEvents(events: readonly EscrowEvent[]): void
}

/** Reads long ranges of the escrow's events in pieces that the nodes accept. */
export type RangeReader = PieceReader<EscrowPiece>

/** @param orderId reads the events of this order only */
export function createRangeReader(events: EscrowEvents, maxBlocks: number, orderId?: Hex): RangeReader {
  return createPieceReader(maxBlocks, (range) => events.read(range, orderId))
}

/** An order lives 30 days at most and can be reclaimed seven days later; a day to spare. */
const BACKFILL_SECONDS = 38 * 24 * 3_600

export type Backfill = ReturnType<typeof createBackfill>

export function createBackfill(source: { readonly events: EscrowEvents; readonly ranges: RangeReader }) {
  /** The first block of the range, undefined before the first read, and the next one to read. */
  let first: number | undefined
  let next = 0
  let last: BlockId | undefined
  let past: EscrowEvent[] = []

  function forget(): void {
    first = undefined
    last = undefined
    past = []
  }

  /** Blocks before this one were replaced, so some are read again, or all. */
  function goBack(block: number): void {
    const from = block - FINAL_DEPTH
    if (first === undefined || from <= first) {
      forget()
      return
    }
    next = from
    last = undefined
    past = past.filter(({ position }) => position.block < from)
  }

  return {
    forget,
    /**
     * Goes on where a failure stopped an earlier try: otherwise it would never finish at a node that limits its rate.
     *
     * @param now Unix seconds of the head
     * @returns with the last block that was read for them
     * @throws ChainUnavailableError, ChainAnswerError; repeatable then
     */
    async read(now: number, head: BlockId): Promise<{ events: readonly EscrowEvent[]; block: BlockId }> {
      const fit = last === undefined ? 'kept' : fitOf(last, head)
      if (fit !== 'kept') goBack(fit === 'behind' ? head.number + 1 : head.number)
      if (first === undefined) {
        next = await firstBlockSince(source.events.blockTime, now - BACKFILL_SECONDS, head.number)
        first = next
      }
      while (next <= head.number) {
        const piece = await source.ranges.readPiece({ from: next, to: head.number })
        if (piece === undefined) throw new ChainAnswerError('the node is behind')
        if (last !== undefined && fitOf(last, piece.parent) !== 'kept') {
          goBack(next)
          throw new ChainAnswerError('the chain changed')
        }
        past.push(...piece.events)
        last = piece.last
        next = piece.to + 1
      }
      return { events: past, block: last ?? head }
    },
  }
}
