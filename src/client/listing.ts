// Lists that only the chain's events have: read from the newest block back, in pieces that the node takes.
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import { type BlockRange, type ChainLog, createLogReader, type LogQuery } from '../chain/logReader.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import { createNode, type Node } from './history/node.js'
import type { CallOptions } from './http.js'
import type { Eip1193Provider } from './provider.js'
import { createWallet } from './wallet.js'

/** How far a list has been read. Everything in it is plain data: a page may keep it, and read on later. */
export interface Listing {
  /** The blocks that have been read, both included; null before the first of them. */
  readonly read: BlockRange | null
  /** Whether nothing is left to read: neither newer blocks nor older ones. */
  readonly isComplete: boolean
}

export interface ListOptions<L extends Listing> extends CallOptions {
  /** The first block to read; default 0. The block of the contracts' deployment saves queries. */
  readonly fromBlock?: number | undefined
  /** The number of newest items to read; all of them by default. */
  readonly limit?: number | undefined
  /** The listing that an earlier call yielded last: only newer blocks, and those that it left unread, are read. */
  readonly resume?: L | undefined
  /** Blocks that one query spans at most; default 50,000. Halved when the node refuses. */
  readonly maxBlocks?: number | undefined
}

/** Where an item is on the chain. */
export interface ListedAt {
  readonly blockNumber: number
  readonly logIndex: number
}

/** Events read so far. */
export interface LogListing extends Listing {
  /** Oldest first. */
  readonly logs: readonly ChainLog[]
}

export interface LogsQuery {
  readonly addresses: readonly Hex[]
  /** As `eth_getLogs` takes them: null matches any topic, a list each of its topics. */
  readonly topics?: readonly (string | readonly string[] | null)[] | undefined
}

/** Blocks below the head that each call reads again: a reorganization may replace them, and a node may lag another. */
export const UNSETTLED_BLOCKS = 12
const MAX_BLOCKS = 50_000

interface Found<T> extends Listing {
  /** Oldest first. */
  readonly items: readonly T[]
}

interface EventsDeps<T> {
  readonly rpc: Node
  readonly queries: readonly LogQuery[]
  readonly itemOf: (log: ChainLog) => T
}

/**
 * Yields what has been found after each piece: first the blocks that are newer than those of `resume`, then older ones.
 * @throws ClientError `node-unavailable`, `node-timeout`, `node-rate-limited`, `too-much-to-read`, `chain-reorganized`, `unexpected-answer`
 */
export async function* readEvents<T extends ListedAt>(
  { rpc, queries, itemOf }: EventsDeps<T>,
  options: ListOptions<Found<T>> = {},
): AsyncGenerator<Found<T>, void, undefined> {
  const { fromBlock = 0, limit = Number.POSITIVE_INFINITY, signal, maxBlocks = MAX_BLOCKS } = options
  const reader = createLogReader({ rpc, queries, maxBlocks })
  let { items, read }: Omit<Found<T>, 'isComplete'> = options.resume ?? { items: [], read: null }

  async function take(range: BlockRange, backwards: boolean): Promise<BlockRange> {
    const piece = await reader.readPiece(range, { backwards })
    if (piece === undefined) {
      throw new ClientError('node-unavailable', 'The node is behind another one. Try again later.')
    }
    const others = items.filter(({ blockNumber }) => blockNumber < piece.from || blockNumber > piece.to)
    const all = [...others, ...piece.logs.map(itemOf)].sort(inOrder)
    items = all.slice(-limit)
    const oldest = items[0]
    read = {
      // Dropped items count as unread: a reorganization may remove newer ones.
      from:
        all.length > items.length && oldest !== undefined
          ? oldest.blockNumber + 1
          : Math.min(read?.from ?? piece.from, piece.from),
      to: Math.max(read?.to ?? piece.to, piece.to),
    }
    return piece
  }

  try {
    const [answer] = await rpc.send([blockCall('latest')])
    const { number: head } = resultOf(answer, blockSchema)
    const soFar = (): Found<T> => {
      const isBack = head < fromBlock || (read !== null && (read.from <= fromBlock || items.length >= limit))
      return { items, read, isComplete: isBack && (read?.to ?? head) >= head }
    }
    for (let from = Math.max(fromBlock, (read?.to ?? head) + 1 - UNSETTLED_BLOCKS); from <= head; ) {
      from = (await take({ from, to: head }, false)).to + 1
      yield soFar()
    }
    while (read !== null && !soFar().isComplete) {
      await take({ from: fromBlock, to: read.from - 1 }, true)
      yield soFar()
    }
    if (read === null) yield soFar()
  } catch (error) {
    signal?.throwIfAborted()
    throw toTradingError(error)
  }
}

function inOrder(a: ListedAt, b: ListedAt): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
}

/**
 * Any contracts' events, through any provider: for lists that the client does not make itself.
 * @throws ClientError `node-unavailable`, `unexpected-answer`
 * @example for await (const { logs } of readLogs(window.ethereum, { addresses: [account] }, { limit: 100 })) console.log(logs)
 */
export async function* readLogs(
  provider: Eip1193Provider,
  { addresses, topics = [] }: LogsQuery,
  { resume, ...options }: ListOptions<LogListing> = {},
): AsyncGenerator<LogListing, void, undefined> {
  const rpc = createNode(createWallet(provider, { miningTimeoutMs: 0 }), options.signal)
  const queries = addresses.map((address) => ({ address, topics }))
  const found = resume && { items: resume.logs, read: resume.read, isComplete: resume.isComplete }
  const events = readEvents({ rpc, queries, itemOf: (log) => log }, { ...options, resume: found })
  for await (const { items, ...listing } of events) yield { logs: items, ...listing }
}

/** One read of a list to its end. Awaits `report`, which gets what has been read so far. */
export type Tail<L> = (signal?: AbortSignal, report?: (soFar: L) => void | Promise<void>) => Promise<L>

/** The range that a node is asked for at first, and the one that nearly every node answers. */
const [MOST_BLOCKS, FEW_BLOCKS] = [50_000, 2_000]

/**
 * Reads a list of the client's to its end, and from then on what is new. A read that fails or is aborted keeps what it has read.
 * A node that falls silent is asked for fewer blocks the next time.
 * @example const { orders } = await createTail<OrderListing>((options) => client.getOrders({ fromBlock: 1, ...options }))()
 */
export function createTail<L extends Listing>(
  list: (options: Omit<ListOptions<L>, 'fromBlock' | 'limit'>) => AsyncGenerator<L>,
): Tail<L> {
  let last: L | undefined
  let maxBlocks = MOST_BLOCKS
  return async (signal, report) => {
    try {
      for await (const soFar of list({ signal, resume: last, maxBlocks })) {
        last = soFar
        if (!soFar.isComplete) await report?.(soFar)
      }
    } catch (error) {
      const isSilent = error instanceof ClientError && error.code === 'node-timeout'
      if (isSilent) maxBlocks = Math.max(FEW_BLOCKS, Math.floor(maxBlocks / 2))
      throw error
    }
    if (last === undefined) throw new Error('the client yields a listing at least once')
    return last
  }
}
