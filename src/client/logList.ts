// Lists that only the chain's events have: read from the newest block back, in pieces that the node takes.
import * as z from 'zod/mini'
import { HistoriesDifferError } from '../chain/errors.js'
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import {
  type BlockId,
  type BlockRange,
  type ChainLog,
  createLogReader,
  type LogPiece,
  type LogQuery,
} from '../chain/logReader.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import type { CallOptions } from './http.js'
import {
  type BlockPlace,
  type HistoryStore,
  keepList,
  keptHex,
  listShape,
  type ReadList,
} from './keptLists.js'
import { createNode, type Node } from './node.js'
import type { RequestSource } from './provider.js'
import { createSlices } from './slices.js'
import { createWallet } from './wallet.js'

export interface ListOptions<L extends ReadList> extends CallOptions {
  /** The first block to read; default 0. The block of the contracts' deployment saves queries. */
  readonly fromBlock?: number | undefined
  /** The number of newest items to read; all of them by default. */
  readonly limit?: number | undefined
  /** The listing that an earlier call yielded last: only newer blocks, and those that it left unread, are read. */
  readonly resume?: L | undefined
  /** Keeps the list between visits: the next call without `resume` yields at once what was kept, and reads on from there. */
  readonly store?: HistoryStore | undefined
  /** Blocks that one query spans at most; default 50,000. Halved when the node refuses. */
  readonly maxBlocks?: number | undefined
}

/** Events read so far. */
export interface LogList extends ReadList {
  /** Oldest first. */
  readonly logs: readonly ChainLog[]
}

export interface LogsQuery {
  readonly addresses: readonly Hex[]
  /** As `eth_getLogs` takes them: null matches any topic, a list each of its topics. */
  readonly topics?: readonly (string | readonly string[] | null)[] | undefined
  /** Of settled events with the same topics only the newest is kept: for events that each say a whole state. */
  readonly isState?: boolean | undefined
}

/** Blocks below the head that are read again: a reorganization may replace them, and a node may lag another. */
const UNSETTLED_BLOCKS = 12
/** A first query of few blocks has the first items at once, and nearly every node answers it. */
const [FIRST_BLOCKS, MAX_BLOCKS] = [2_000, 50_000]
/** Bytes of an answer that a page reads within a frame, so that a list grows before its reader's eyes. */
const MOST_BYTES = 1_250_000
/** An answer that is too long says nothing of how much too long, and each further try costs the node as much again. */
const SHORTENED_BY = 16

interface Found<T> extends ReadList {
  /** Oldest first. */
  readonly items: readonly T[]
}

interface EventsDeps<T> {
  readonly rpc: Node
  readonly queries: readonly LogQuery[]
  readonly itemOf: (log: ChainLog) => T
  /** Of settled items with the same key only the newest stays. Default: all stay. */
  readonly keyOf?: ((item: T) => string) | undefined
}

/**
 * Yields what has been found after each piece: first the blocks that are newer than those of `resume`, then older ones. A list whose
 * checkpoint is not on the chain any more is read anew.
 * @throws ClientError `node-unavailable`, `node-timeout`, `node-rate-limited`, `too-much-to-read`, `chain-reorganized`,
 *   `unexpected-answer`
 */
export async function* readEvents<T extends BlockPlace>(
  deps: EventsDeps<T>,
  options: Omit<ListOptions<Found<T>>, 'store'> = {},
): AsyncGenerator<Found<T>, void, undefined> {
  const { fromBlock = 0, limit = Number.POSITIVE_INFINITY, signal, maxBlocks, resume } = options
  const { rpc } = deps
  const pieces = createPieces(deps, maxBlocks)
  const found = createFound(deps, limit, resume?.checkpoint ? resume : undefined)
  const slices = createSlices(signal)
  /** A piece of the blocks in which everyone joined has tens of thousands. */
  async function itemsOf(logs: readonly ChainLog[]): Promise<T[]> {
    const items: T[] = []
    for (const log of logs) {
      if (slices.isOver()) await slices.next()
      items.push(deps.itemOf(log))
    }
    if (slices.isOver()) await slices.next()
    return items
  }
  try {
    const [answer] = await rpc.send([blockCall('latest')])
    const { number: head, hash } = resultOf(answer, blockSchema)
    const span = { from: fromBlock, to: Math.max(fromBlock, head) }
    const soFar = (): Found<T> => {
      const { items, read, checkpoint } = found
      const isBack = head < fromBlock || (read !== null && (read.from <= fromBlock || items.length >= limit))
      return { items, read, checkpoint, span, isComplete: isBack && (read?.to ?? head) >= head }
    }
    const settled = head - UNSETTLED_BLOCKS
    // A chain that was set up anew may not be as long as what was kept.
    if (found.checkpoint !== null && found.checkpoint.number >= head && found.checkpoint.hash !== hash)
      found.forget()
    let last = found.checkpoint
    for (let from = (last?.number ?? Math.max(fromBlock - 1, settled)) + 1; from <= head; ) {
      const isFar = found.checkpoint !== null && settled - found.checkpoint.number >= UNSETTLED_BLOCKS
      const piece = await pieces.read({ from, to: isFar && from <= settled ? settled : head }, false)
      if (last !== null && piece.parent?.hash !== last.hash) {
        if (last !== resume?.checkpoint) throw new HistoriesDifferError()
        // The kept list is of a branch that the chain has left, or of another chain.
        found.forget()
        last = null
        from = Math.max(fromBlock, settled + 1)
        continue
      }
      const checkpoint =
        from === settled + 1 ? piece.parent : piece.to <= settled ? piece.last : found.checkpoint
      found.take(piece, await itemsOf(piece.logs), checkpoint)
      last = piece.last
      from = piece.to + 1
      yield soFar()
    }
    for (let { read } = found; read !== null && !soFar().isComplete; read = found.read) {
      const piece = await pieces.read({ from: fromBlock, to: read.from - 1 }, true)
      found.take(piece, await itemsOf(piece.logs), found.checkpoint)
      yield soFar()
    }
    if (found.read === null) yield soFar()
  } catch (error) {
    signal?.throwIfAborted()
    throw toTradingError(error)
  }
}

type Piece = LogPiece & BlockRange

/** Reads pieces that are short at first, and later as long as they have few events and the node is quick enough. */
export function createPieces(
  { rpc, queries }: { readonly rpc: Node; readonly queries: readonly LogQuery[] },
  maxBlocks: number = MAX_BLOCKS,
) {
  const reader = createLogReader({ rpc, queries, maxBlocks, slices: createSlices() })
  let most = maxBlocks
  let blocks = Math.min(FIRST_BLOCKS, most)
  return {
    async read({ from, to }: BlockRange, backwards: boolean): Promise<Piece> {
      for (;;) {
        const part = backwards
          ? { from: Math.max(from, to - blocks + 1), to }
          : { from, to: Math.min(to, from + blocks - 1) }
        const piece = await reader.readPiece(part, { backwards }).catch((error: unknown) => {
          if (isTooLong(error) && part.from < part.to) return 'too long'
          if (!isTimeout(error) || blocks <= FIRST_BLOCKS) throw error
          return null
        })
        if (piece === undefined) {
          throw new ClientError('node-unavailable', 'The node is behind another one. Try again later.')
        }
        if (piece === 'too long') {
          blocks = Math.max(1, Math.floor((part.to - part.from + 1) / SHORTENED_BY))
          continue
        }
        if (piece === null) {
          most = Math.floor(blocks / 2)
          blocks = most
          continue
        }
        const length = piece.to - piece.from + 1
        const share = MOST_BYTES / bytesOf(piece.logs)
        if (share < 2) blocks = Math.max(1, Math.floor(length * Math.min(1, share)))
        else if (length === blocks) blocks = Math.min(most, blocks * 2)
        return piece
      }
    },
  }
}

/** Their length in a node's JSON, about. */
function bytesOf(logs: readonly ChainLog[]): number {
  return logs.reduce((bytes, { topics, data }) => bytes + 360 + 67 * topics.length + data.length, 0)
}

/** A provider that reads answers for a page may refuse one, because the page would stand still meanwhile. */
function isTooLong(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'too-much-to-read'
}

function isTimeout(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'node-timeout'
}

/** What has been found of a list. */
function createFound<T extends BlockPlace>(
  { keyOf }: Pick<EventsDeps<T>, 'keyOf'>,
  limit: number,
  resume: Pick<Found<T>, 'items' | 'read' | 'checkpoint'> = { items: [], read: null, checkpoint: null },
) {
  let { items, read, checkpoint } = resume

  /** Without the settled items that a newer settled one replaces. */
  function newestOf(all: readonly T[]): readonly T[] {
    if (keyOf === undefined) return all
    const settled = new Map(
      all
        .filter(({ blockNumber }) => blockNumber <= (checkpoint?.number ?? -1))
        .map((item) => [keyOf(item), item]),
    )
    return all.filter(
      (item) => item.blockNumber > (checkpoint?.number ?? -1) || settled.get(keyOf(item)) === item,
    )
  }

  return {
    get items() {
      return items
    },
    get read() {
      return read
    },
    get checkpoint() {
      return checkpoint
    },
    forget(): void {
      items = []
      read = null
      checkpoint = null
    },
    take(piece: BlockRange, added: readonly T[], moved: BlockId | null): void {
      checkpoint = moved
      const others = items.filter(({ blockNumber }) => blockNumber < piece.from || blockNumber > piece.to)
      const isSame = added.length === 0 && others.length === items.length
      const all = isSame ? items : newestOf([...others, ...added].sort(inOrder))
      if (!isSame) items = all.slice(-limit)
      const oldest = items[0]
      read = {
        // Dropped items count as unread: a reorganization may remove newer ones.
        from:
          all.length > items.length && oldest !== undefined
            ? oldest.blockNumber + 1
            : Math.min(read?.from ?? piece.from, piece.from),
        to: Math.max(read?.to ?? piece.to, piece.to),
      }
    },
  }
}

function inOrder(a: BlockPlace, b: BlockPlace): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
}

/**
 * Any contracts' events, through any provider.
 * @throws ClientError as `listOrders` does
 */
export async function* listLogs(
  provider: RequestSource,
  { addresses, topics = [], isState = false }: LogsQuery,
  { store, resume, ...options }: ListOptions<LogList> = {},
): AsyncGenerator<LogList, void, undefined> {
  const wallet = createWallet(provider, { miningTimeoutMs: 0 }).until(options.signal)
  const rpc = createNode(wallet, options.signal)
  const deps = {
    ...{ rpc, queries: addresses.map((address) => ({ address, topics })), itemOf: (log: ChainLog) => log },
    keyOf: isState ? keyOfState : undefined,
  }
  const name = async () => `logs/${await wallet.chainId()}/${JSON.stringify([addresses, topics])}`
  const kept = {
    ...{ store, name, schema: logListSchema, rows: ['logs'] as const },
    itemsOf: ({ logs }: LogList) => logs,
  }
  yield* keepList(kept, resume, async function* (from) {
    const found = from && { ...from, items: from.logs }
    for await (const { items, ...listing } of readEvents(deps, { ...options, resume: found })) {
      yield { logs: items, ...listing }
    }
  })
}

function keyOfState({ address, topics }: ChainLog): string {
  return `${address} ${topics.join(' ')}`
}

const logListSchema = z.strictObject({
  ...listShape,
  logs: z.array(
    z.strictObject({
      ...{ address: keptHex, topics: z.array(keptHex), data: keptHex, txHash: keptHex, blockHash: keptHex },
      ...{ blockNumber: z.int(), logIndex: z.int(), blockTimestamp: z.optional(z.int()) },
    }),
  ),
})

/** One read of a list to its end. Awaits `report`, which gets what has been read so far. */
export type Tail<L> = (signal?: AbortSignal, report?: (soFar: L) => void | Promise<void>) => Promise<L>

/**
 * Reads a list of the client's to its end, and from then on what is new. A read that fails or is aborted keeps what it has read.
 * A node that is too slow is asked for fewer blocks the next time.
 * @example const { orders } = await createTail<OrderList>((options) => listOrders(client, { fromBlock: 1, ...options }))()
 */
export function createTail<L extends ReadList>(
  list: (options: Omit<ListOptions<L>, 'fromBlock' | 'limit' | 'store'>) => AsyncGenerator<L>,
): Tail<L> {
  let last: L | undefined
  let maxBlocks = MAX_BLOCKS
  return async (signal, report) => {
    try {
      for await (const soFar of list({ signal, resume: last, maxBlocks })) {
        last = soFar
        if (!soFar.isComplete) await report?.(soFar)
      }
    } catch (error) {
      if (isTimeout(error)) maxBlocks = Math.max(1, Math.floor(Math.min(maxBlocks, FIRST_BLOCKS) / 2))
      throw error
    }
    if (last === undefined) throw new Error('the client yields a listing at least once')
    return last
  }
}
