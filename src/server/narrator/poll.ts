import type { Logger } from '../logger.js'
import type { Cursor, CursorStore } from '../store/narratorCursor.js'
import type { ChainLog, ChainReader } from './chainReader.js'
import { narrate } from './events.js'
import { formatLine } from './format.js'

interface NarratorOptions {
  readonly chain: ChainReader
  readonly cursors: CursorStore
  /** Blocks that must hold an event, its own included, before it is narrated. */
  readonly confirmations: number
  /** Blocks that one query may span. */
  readonly maxRange: number
  /** Takes one line, without its end. */
  readonly print: (line: string) => void
  /** Told of each look that succeeded. */
  readonly onLook?: ((look: NarratorLook) => void) | undefined
  readonly logger: Logger
}

/** How far the narration has come. */
export interface NarratorLook {
  /** The last block whose events were narrated. */
  readonly block: number
  /** The last block that there was to narrate. */
  readonly settled: number
}

/** How far narration goes back when the chain's history has changed below it. */
const REWIND_BLOCKS = 64

/** Of several nodes behind one address, one may be a little behind for a moment; a chain that was reset stays so. */
const TICKS_UNTIL_RESET = 5

/** One look at the chain, printing what is new. */
export type Tick = (signal: AbortSignal) => Promise<void>

/**
 * Narrates every event once, in chain order. All answers of a tick are collected first; then the cursor is saved;
 * then the lines are printed. So a failing node or disk repeats nothing, and of a process that is killed in between,
 * the lines of one tick are lost rather than printed twice.
 *
 * Not to be called again before it has resolved.
 */
export function createNarratorTick(options: NarratorOptions): Tick {
  const { chain, cursors, confirmations, maxRange, print, logger } = options
  let cursor: Cursor | undefined
  let range = maxRange
  let ticksBehind = 0

  async function save(next: Cursor): Promise<void> {
    await cursors.save(next)
    cursor = next
  }

  async function begin(signal: AbortSignal): Promise<number> {
    const { head } = await chain.head(0, signal)
    const settled = Math.max(0, head.number - (confirmations - 1))
    const { block: start } = await chain.head(settled, signal)
    if (start !== null) await save({ block: start.number, hash: start.hash, start, recent: [] })
    return settled
  }

  /** What was read is no longer the chain's history: said in one line, and read again from a little before. */
  async function rewind(from: Cursor, settled: number, signal: AbortSignal): Promise<void> {
    const { block: start } = await chain.head(from.start.number, signal)
    const earliest = start?.hash === from.start.hash ? start.number : 0
    const block = Math.max(earliest, Math.min(from.block, settled) - REWIND_BLOCKS)
    await save({ ...from, block, hash: null })
    ticksBehind = 0
    const says = 'history changed: following the chain as it is now'
    print(formatLine({ time: nowSeconds(), tag: 'chain', says }))
  }

  async function advance(from: Cursor, settled: number, signal: AbortSignal): Promise<void> {
    const to = Math.min(settled, from.block + range)
    const { logs, hash } = await chain.logs(from.block + 1, to, signal).catch((error: unknown) => {
      // Too many blocks, or too many events in them, is a refusal like any other.
      range = Math.max(1, Math.floor(range / 2))
      throw error
    })
    range = Math.min(maxRange, range * 2)
    const known = new Set(from.recent.map(({ id }) => id))
    const fresh = logs.filter((log) => !known.has(idOf(log)))
    const recent = [...from.recent, ...fresh.map((log) => ({ block: log.blockNumber, id: idOf(log) }))]
    await save({
      ...from,
      block: to,
      hash,
      recent: recent.filter(({ block }) => block > to - REWIND_BLOCKS),
    })
    for (const log of fresh) say(log)
  }

  function say(log: ChainLog): void {
    const narration = narrate(log.contract, log)
    if (narration === null) logger.warn('event not readable', { blockNumber: log.blockNumber })
    else print(formatLine({ time: log.blockTimestamp ?? nowSeconds(), ...narration }))
  }

  /** The last block that there is to narrate. */
  async function look(signal: AbortSignal): Promise<number> {
    cursor ??= await cursors.load()
    if (cursor === undefined) return begin(signal)
    const { head, block } = await chain.head(cursor.block, signal)
    const settled = head.number - (confirmations - 1)
    ticksBehind = settled < cursor.block ? ticksBehind + 1 : 0
    const replaced = block !== null && cursor.hash !== null && block.hash !== cursor.hash
    if (replaced || ticksBehind >= TICKS_UNTIL_RESET) await rewind(cursor, settled, signal)
    else if (settled > cursor.block) await advance(cursor, settled, signal)
    return settled
  }

  return async (signal) => {
    const settled = await look(signal)
    if (cursor !== undefined) options.onLook?.({ block: cursor.block, settled })
  }
}

/** A block that comes back with another hash is another history: its events are told again. */
function idOf({ blockHash, logIndex }: ChainLog): string {
  return `${blockHash}:${logIndex}`
}

function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}
