import { Interface, type InterfaceAbi } from 'ethers'
import type { Hex } from '../../src/client/index.js'
import { inTime } from './inTime.js'
import { type ChainLog, createPartReader, type LogSource, type Part } from './parts.js'
import { turnAfter } from './turn.js'

/** Blocks below the head to read again each time: a reorganization may replace them, and a node may lag another. */
export const UNSETTLED_BLOCKS = 12

export interface LogQuery {
  readonly address: Hex | readonly Hex[]
  /** In the form of `eth_getLogs`: null matches any topic, a list each of its topics. */
  readonly topics?: readonly (string | readonly string[] | null)[]
  readonly fromBlock: number
  /** The number of newest logs to return; unset: all. */
  readonly most?: number
}

export interface LogsSoFar {
  /** Oldest first. */
  readonly logs: readonly ChainLog[]
  /** The newest block read so far, across all reads. */
  readonly head: number
  /** Whether every log has been read, both older and newer, as of this read. */
  readonly complete: boolean
}

export interface LookOptions {
  /** Ends the read after its current part, or at once while it waits for another read. */
  readonly signal?: AbortSignal | undefined
  /** Called with the logs so far after each of several parts. */
  readonly onPart?: ((soFar: LogsSoFar) => void | Promise<void>) | undefined
}

/** Reads the chain. Reads run one after another, so none requests the same blocks twice. */
export type LogTail = (options?: LookOptions) => Promise<LogsSoFar>

/**
 * Reads logs incrementally: first those newer than the last read, then older ones, in parts that the node accepts. A
 * read that fails or is aborted keeps its finished parts.
 */
export function createLogTail(
  source: LogSource,
  { fromBlock, most = Number.POSITIVE_INFINITY, ...filter }: LogQuery,
): LogTail {
  const parts = createPartReader(source, {
    address: typeof filter.address === 'string' ? filter.address : [...filter.address],
    topics: (filter.topics ?? []).map((topic) => (typeof topic === 'object' && topic ? [...topic] : topic)),
  })
  let logs: readonly ChainLog[] = []
  /** The contiguous range of blocks read so far. */
  let read: { readonly from: number; readonly to: number } | null = null
  let before: Promise<unknown> = Promise.resolve()

  const reachesBack = () => read !== null && (read.from <= fromBlock || logs.length >= most)
  const soFar = (head: number): LogsSoFar => {
    const to = read?.to ?? fromBlock - 1
    return { logs, head: to, complete: reachesBack() && to >= head }
  }
  const take = (part: Part) => {
    const others = logs.filter(({ blockNumber }) => blockNumber < part.from || blockNumber > part.to)
    const all = [...others, ...part.logs].sort(inOrder)
    logs = all.slice(-most)
    const from = Math.min(read?.from ?? part.from, part.from)
    const oldest = logs[0]
    read = {
      // Discarded logs count as unread: they are needed again if a reorganization removes newer ones.
      from: all.length > logs.length && oldest !== undefined ? oldest.blockNumber + 1 : from,
      // A lagging node does not move the head backwards.
      to: Math.max(read?.to ?? part.to, part.to),
    }
  }

  async function look({ signal, onPart }: LookOptions): Promise<LogsSoFar> {
    signal?.throwIfAborted()
    const head = await inTime('getBlockNumber', source.getBlockNumber())
    const report = async () => {
      const part = soFar(head)
      if (!part.complete) await onPart?.(part)
      signal?.throwIfAborted()
    }
    for (let from = Math.max(fromBlock, (read?.to ?? head) + 1 - UNSETTLED_BLOCKS); from <= head; ) {
      const part = await parts.first(from, head)
      take(part)
      from = part.to + 1
      await report()
    }
    while (read !== null && !reachesBack()) {
      take(await parts.last(fromBlock, read.from - 1))
      await report()
    }
    return soFar(head)
  }

  return (options = {}) => {
    const mine = turnAfter(before, options.signal).then(() => look(options))
    // An aborted read still queues later reads behind the one it waited for.
    before = Promise.allSettled([before, mine])
    return mine
  }
}

function inOrder(a: ChainLog, b: ChainLog): number {
  return a.blockNumber - b.blockNumber || a.index - b.index
}

/** The topic of an event. */
export function topicOf(abi: InterfaceAbi, event: string): string {
  const fragment = new Interface(abi).getEvent(event)
  if (fragment === null) throw new Error(`there is no event ${event}`)
  return fragment.topicHash
}
