import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { Tick } from '../poller.js'
import { StorageError } from '../store/storageError.js'
import type { ChainLog } from './chainLog.js'
import type { BlockId, BlockRange, ChainReader, Look } from './chainReader.js'
import { narrate } from './events.js'
import {
  type Cursor,
  type CursorStore,
  extended,
  FINAL_DEPTH,
  judge,
  lastOf,
  type ToldBlock,
} from './history.js'
import { createLookAhead } from './lookAhead.js'
import type { Narration, Told } from './narration.js'
import type { Print } from './output.js'
import { RangeRefusedError } from './rangeRefusal.js'
import { createRangeSize } from './rangeSize.js'

interface NarratorOptions {
  readonly chain: ChainReader
  readonly cursors: CursorStore
  /** Blocks that must hold an event, its own included, before it is narrated. */
  readonly confirmations: number
  /** Blocks that one query may span. */
  readonly maxRange: number
  readonly print: Print
  /** Told of each look that succeeded. */
  readonly onLook?: ((look: NarratorLook) => void) | undefined
  readonly logger: Logger
}

/** How far the narration has come. */
export interface NarratorLook {
  /** The last block whose events were narrated. */
  readonly block: number
  /** The last block that was to be narrated, as far as was known when the look began. */
  readonly due: number
}

/** Of several nodes behind one address, one may be of another mind for a moment; a chain that was reset stays so. */
const LOOKS_UNTIL_RESET = 5

/**
 * Narrates every event once, in chain order, and takes back once what a reorganization removed. A tick is one request
 * to the chain, and a second one where its history seems to have changed. The cursor is saved before anything is
 * printed: a failing node or disk repeats nothing, and of a process that is killed in between, the lines of one tick
 * are lost rather than printed twice.
 *
 * Not to be called again before it has resolved.
 */
export function createNarratorTick(options: NarratorOptions): Tick {
  const { chain, cursors, confirmations, print, logger } = options
  const size = createRangeSize(options.maxRange)
  const ahead = createLookAhead(chain)
  let cursor: Cursor | undefined
  /** The last block that there is to narrate, as far as is known. */
  let settled = 0
  let resets = 0
  /** Whether a look comes at once after another one. */
  let isNextAtOnce = false

  async function save(next: Cursor, told: readonly Told[], signal: AbortSignal): Promise<void> {
    await cursors.save(next)
    cursor = next
    await print(told, signal)
  }

  async function begin(signal: AbortSignal): Promise<void> {
    const { head, hash: genesis } = await chain.look(0, undefined, signal)
    settled = settledBy(head)
    const lowest = Math.max(0, settled - FINAL_DEPTH)
    const numbers = Array.from({ length: settled - lowest + 1 }, (_, index) => lowest + index)
    const hashes = await chain.hashes(numbers, signal)
    const hash = hashes.get(settled)
    if (hash === undefined) return
    const blocks = numbers.flatMap((number) => blockOf(number, hashes.get(number)))
    await save({ genesis, start: { number: settled, hash }, blocks }, [], signal)
  }

  function settledBy(head: BlockId): number {
    return Math.max(0, head.number - (confirmations - 1))
  }

  /** What there is to read next; undefined when all is told. */
  function nextRange(after: number): BlockRange | undefined {
    if (settled <= after) return undefined
    return { from: after + 1, to: Math.min(settled, after + size.blocks()) }
  }

  async function advance(from: Cursor, range: BlockRange, look: Look, signal: AbortSignal): Promise<void> {
    const found = look.logs()
    // The node that was asked is behind the one that said the head.
    if (found === undefined) return
    if (blocksOf(range) === size.blocks()) size.answered()
    // Nobody waits for the node and for whoever reads the lines in turn.
    const next = nextRange(range.to)
    if (next !== undefined && blocksOf(next) === size.blocks()) ahead.prepare(range.to, next, signal)
    const { blocks, told } = tell(found.logs, found.last)
    await save(extended(from, blocks, look.head.number), told, signal)
  }

  function tell(logs: readonly ChainLog[], last: BlockId): { blocks: ToldBlock[]; told: Told[] } {
    const told: Told[] = []
    const byBlock = new Map<number, BlockId & { told: Narration[] }>()
    for (const log of logs) {
      const narration = narrate(log.contract, log)
      if (narration === null) {
        logger.warn('event not readable', { blockNumber: log.blockNumber })
        continue
      }
      const block = byBlock.get(log.blockNumber) ?? { number: log.blockNumber, hash: log.blockHash, told: [] }
      block.told.push(narration)
      byBlock.set(block.number, block)
      told.push({ kind: 'event', time: BigInt(log.blockTimestamp ?? nowSeconds()), narration })
    }
    if (!byBlock.has(last.number)) byBlock.set(last.number, { ...last, told: [] })
    return { blocks: [...byBlock.values()], told }
  }

  /** The block that was told last is not on the chain, or not as it was. */
  async function reconsider(from: Cursor, signal: AbortSignal): Promise<void> {
    const numbers = new Set([0, from.start.number, ...from.blocks.map(({ number }) => number)])
    const hashes = await chain.hashes([...numbers], signal)
    const verdict = judge(from, (number) => hashes.get(number))
    resets = verdict.kind === 'reset' ? resets + 1 : 0
    if (verdict.kind === 'reorganized') {
      logger.warn('the chain was reorganized', { count: verdict.removed.length })
      await save(verdict.cursor, retractions(verdict.removed), signal)
    } else if (resets >= LOOKS_UNTIL_RESET) {
      const genesis = hashes.get(0) ?? null
      const isStartGone = hashes.get(from.start.number) !== from.start.hash
      // With neither of the two there is no block to go on from yet.
      const start = isStartGone ? genesis && { number: 0, hash: genesis } : from.start
      if (start === null) return
      const reset: Told = { kind: 'reset', time: nowSeconds() }
      await save({ genesis, start, blocks: [{ ...start, told: [] }] }, [reset], signal)
      resets = 0
    }
  }

  async function look(signal: AbortSignal): Promise<void> {
    cursor ??= await cursors.load()
    if (cursor === undefined) return begin(signal)
    const last = lastOf(cursor)
    const range = nextRange(last.number)
    const found = await ahead.look(last.number, range, signal)
    settled = settledBy(found.head)
    if (found.hash !== last.hash) return reconsider(cursor, signal)
    resets = 0
    if (range !== undefined) await advance(cursor, range, found, signal)
  }

  /**
   * Whether there is more to read without a pause. What a look has just heard of is read at once when the look came
   * after a pause: a chain that grows with every look would have no pause else.
   */
  function hasMore(before: { readonly settled: number; readonly cursor: Cursor | undefined }, block: number) {
    const isNews = cursor !== before.cursor || settled > before.settled
    return isNews && settled > block && (before.settled > block || !isNextAtOnce)
  }

  return async (signal) => {
    const before = { settled, cursor }
    try {
      await look(signal)
    } catch (error) {
      // Whatever the node had against it, a shorter range is the lesser question.
      const isShorter = !(error instanceof StorageError) && size.refused()
      if (isShorter && error instanceof RangeRefusedError) return 'again'
      isNextAtOnce = false
      throw error
    }
    if (cursor === undefined) return undefined
    const block = lastOf(cursor).number
    options.onLook?.({ block, due: before.settled })
    isNextAtOnce = hasMore(before, block)
    if (!isNextAtOnce) ahead.forget()
    return isNextAtOnce ? 'again' : undefined
  }
}

function blocksOf({ from, to }: BlockRange): number {
  return to - from + 1
}

/** A block of which nothing was told; none where the node does not give it. */
function blockOf(number: number, hash: Hex | undefined): ToldBlock[] {
  return hash === undefined ? [] : [{ number, hash, told: [] }]
}

/** Newest first, as they are undone. */
function retractions(removed: readonly ToldBlock[]): Told[] {
  const time = nowSeconds()
  return removed
    .flatMap(({ told }) => told)
    .toReversed()
    .map((narration) => ({ kind: 'retraction', time, narration }))
}

function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}
