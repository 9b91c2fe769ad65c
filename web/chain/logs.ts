import { Interface, type InterfaceAbi } from 'ethers'
import type { Hex } from '../../src/client/index.js'
import { inTime } from './inTime.js'
import { type ChainLog, createPartReader, type LogSource, type Part } from './parts.js'
import { turnAfter } from './turn.js'

/** Blocks below the head that are read again each time: they may be exchanged, and a node may know less than another. */
const UNSETTLED_BLOCKS = 12

export interface LogQuery {
  readonly address: Hex | readonly Hex[]
  /** As `eth_getLogs` has them; null is any. */
  readonly topics?: readonly (string | null)[]
  readonly fromBlock: number
  /** Of the newest ones; unset: all. */
  readonly most?: number
}

export interface LogsSoFar {
  /** Oldest first. */
  readonly logs: readonly ChainLog[]
  /** The newest block that was read, of all looks. */
  readonly head: number
  /** Whether nothing is left to be read, neither older nor newer, as far as the look that tells it knows. */
  readonly complete: boolean
}

export interface LookOptions {
  /** Ends the look after the part that is being read, or at once while it waits for another one. */
  readonly signal?: AbortSignal | undefined
  /** Is given what there is, after each part of many. */
  readonly onPart?: ((soFar: LogsSoFar) => void | Promise<void>) | undefined
}

/** A look at the chain. One waits for the one before, so that nothing is asked for twice. */
export type LogTail = (options?: LookOptions) => Promise<LogsSoFar>

/**
 * Logs as they come, the newest first: each look reads what is new since the one before, then what is older than all
 * that was read, in parts that the node takes. A look that fails or is ended keeps the parts it has read.
 */
export function createLogTail(
  source: LogSource,
  { fromBlock, most = Number.POSITIVE_INFINITY, ...filter }: LogQuery,
): LogTail {
  const parts = createPartReader(source, {
    address: typeof filter.address === 'string' ? filter.address : [...filter.address],
    topics: [...(filter.topics ?? [])],
  })
  let logs: readonly ChainLog[] = []
  /** The blocks that were read, without a gap between them. */
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
      // What was cut off is as good as unread: it is wanted when the chain takes newer ones back.
      from: all.length > logs.length && oldest !== undefined ? oldest.blockNumber + 1 : from,
      // A node that is behind another one takes nothing back.
      to: Math.max(read?.to ?? part.to, part.to),
    }
  }

  async function look({ signal, onPart }: LookOptions): Promise<LogsSoFar> {
    signal?.throwIfAborted()
    const head = await inTime('getBlockNumber', source.getBlockNumber())
    const tell = async () => {
      const part = soFar(head)
      if (!part.complete) await onPart?.(part)
      signal?.throwIfAborted()
    }
    for (let from = Math.max(fromBlock, (read?.to ?? head) + 1 - UNSETTLED_BLOCKS); from <= head; ) {
      const part = await parts.first(from, head)
      take(part)
      from = part.to + 1
      await tell()
    }
    while (read !== null && !reachesBack()) {
      take(await parts.last(fromBlock, read.from - 1))
      await tell()
    }
    return soFar(head)
  }

  return (options = {}) => {
    const mine = turnAfter(before, options.signal).then(() => look(options))
    // A look that no longer waits lets nobody past the one that it waited for.
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
