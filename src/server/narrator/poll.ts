import { fitOf } from '../../chain/blockTracker.js'
import {
  type BlockId,
  type BlockRange,
  type ChainLog,
  createRangeSize,
  RangeRefusedError,
} from '../../chain/logReader.js'
import type { Rpc } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller, type Service, type Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { StorageError } from '../store/engine.js'
import type { ServeLease } from '../store/leaseHolder.js'
import { type ChainReader, type ChainSnapshot, createChainReader } from './chainReader.js'
import { createNarrate, type Narrate, type Narration, type NarrationLine } from './events.js'
import {
  type Cursor,
  type CursorStore,
  createCursorStore,
  extended,
  FINAL_DEPTH,
  judge,
  lastOf,
  type NarratedBlock,
} from './history.js'
import { createPrinter, type NarratorOutput, type Print } from './output.js'

/**
 * Wires the narrator, which works while this server holds its lease. Each term begins with the stored cursor, and its saves
 * carry the term's fence, so no two servers narrate one event. Starts no service.
 */
export function buildNarrator(deps: {
  readonly config: Config
  readonly rpc: Rpc
  readonly serveLease: ServeLease
  readonly logger: Logger
  readonly output: NarratorOutput
  readonly progress?: NarratorProgress
}): Service {
  const { config, rpc, serveLease, logger, output, progress = createNarratorProgress() } = deps
  const { contracts, logRange } = config.chain
  const { intervalMs, confirmations } = config.narrator
  const write = createPrinter(output, config.narrator)
  const print: Print = async (lines, signal) => {
    progress.notePrinting(true)
    try {
      await write(lines, signal)
    } finally {
      progress.notePrinting(false)
    }
  }

  return serveLease('narrator', (engine) => {
    const tick = createNarratorTick({
      chain: createChainReader({ rpc, contracts }),
      narrate: createNarrate(contracts),
      cursors: createCursorStore({ engine, logger }),
      confirmations,
      maxRange: logRange,
      print,
      onLook: progress.note,
      logger,
    })
    const narrating = createHook('narrator progress', { start: progress.begin, stop: progress.end })
    return [narrating, createPoller({ name: 'narrator', intervalMs, tick, logger })]
  })
}

interface NarratorOptions {
  readonly chain: ChainReader
  readonly narrate: Narrate
  readonly cursors: CursorStore
  /** Blocks that must hold an event, its own included, before it is narrated. */
  readonly confirmations: number
  /** Blocks that one query may span. */
  readonly maxRange: number
  readonly print: Print
  /** Called after each look that succeeded. */
  readonly onLook?: ((look: NarratorLook) => void) | undefined
  readonly logger: Logger
}

/** The progress of the narration after a look. */
export interface NarratorLook {
  /** The last block whose events were narrated. */
  readonly block: number
  /** The last block to be narrated, as known when the look began. */
  readonly due: number
}

/** One of several nodes behind one address may differ for a moment; a chain that was reset stays reset. */
const LOOKS_UNTIL_RESET = 5

/**
 * Narrates every event once, in chain order, and retracts once each event that a reorganization removed. A tick is one request
 * to the chain, and a second one where its history seems to have changed. The cursor is saved before the lines are printed:
 * a failing node or store repeats no line. A process that is killed in between loses the lines of one tick, and prints none twice.
 *
 * Do not call it again before it has resolved.
 */
export function createNarratorTick(options: NarratorOptions): Tick {
  const { chain, narrate, cursors, confirmations, print, logger } = options
  const size = createRangeSize(options.maxRange)
  const ahead = createLookAhead(chain)
  let cursor: Cursor | undefined
  /** The last block with enough confirmations, as far as is known. */
  let confirmed = 0
  let resets = 0
  /** Whether the next look follows without a pause. */
  let isNextImmediate = false

  async function save(next: Cursor, lines: readonly NarrationLine[], signal: AbortSignal): Promise<void> {
    await cursors.save(next)
    cursor = next
    await print(lines, signal)
  }

  async function begin(signal: AbortSignal): Promise<void> {
    const { head, before: genesis } = await chain.look(0, undefined, signal)
    confirmed = confirmedBy(head)
    const lowest = Math.max(0, confirmed - FINAL_DEPTH)
    const numbers = Array.from({ length: confirmed - lowest + 1 }, (_, index) => lowest + index)
    const hashes = await chain.hashes(numbers, signal)
    const hash = hashes.get(confirmed)
    if (hash === undefined) return
    const blocks = numbers.flatMap((number) => blockOf(number, hashes.get(number)))
    await save({ genesis: genesis?.hash ?? null, start: { number: confirmed, hash }, blocks }, [], signal)
  }

  function confirmedBy(head: BlockId): number {
    return Math.max(0, head.number - (confirmations - 1))
  }

  /** The range to read next; undefined when every event is narrated. */
  function nextRange(after: number): BlockRange | undefined {
    if (confirmed <= after) return undefined
    return size.part({ from: after + 1, to: confirmed })
  }

  /** Has the node look at a further range while another one is read, saved and printed. */
  function prepareNext(after: number, signal: AbortSignal): void {
    const last = ahead.end() ?? after
    const next = nextRange(last)
    if (next !== undefined && size.isWhole(next)) ahead.prepare(last, next, signal)
  }

  async function advance(
    from: Cursor,
    range: BlockRange,
    look: ChainSnapshot,
    signal: AbortSignal,
  ): Promise<void> {
    const found = look.logs()
    // The node is behind the one that reported the head.
    if (found === undefined) return
    size.answered(range)
    prepareNext(range.to, signal)
    const { blocks, lines } = narrated(found.logs, found.last)
    await save(extended(from, blocks, look.head.number), lines, signal)
  }

  function narrated(
    logs: readonly ChainLog[],
    last: BlockId,
  ): { blocks: NarratedBlock[]; lines: NarrationLine[] } {
    const lines: NarrationLine[] = []
    const byBlock = new Map<number, BlockId & { told: Narration[] }>()
    for (const log of logs) {
      const narration = narrate(log)
      if (narration === null) {
        logger.warn('event not readable', { blockNumber: log.blockNumber })
        continue
      }
      const block = byBlock.get(log.blockNumber) ?? { number: log.blockNumber, hash: log.blockHash, told: [] }
      block.told.push(narration)
      byBlock.set(block.number, block)
      lines.push({ kind: 'event', time: BigInt(log.blockTimestamp ?? nowSeconds()), narration })
    }
    if (!byBlock.has(last.number)) byBlock.set(last.number, { ...last, told: [] })
    return { blocks: [...byBlock.values()], lines }
  }

  /** The block that was narrated last is missing or has another hash. */
  async function reconsider(from: Cursor, signal: AbortSignal): Promise<void> {
    const numbers = new Set([0, from.start.number, ...from.blocks.map(({ number }) => number)])
    const hashes = await chain.hashes([...numbers], signal)
    const verdict = judge(from, (number) => hashes.get(number))
    resets = verdict.kind === 'reset' ? resets + 1 : 0
    if (verdict.kind === 'reorganized') {
      logger.warn('chain reorganized', { count: verdict.removed.length })
      await save(verdict.cursor, retractions(verdict.removed), signal)
    } else if (resets >= LOOKS_UNTIL_RESET) {
      const genesis = hashes.get(0) ?? null
      const isStartGone = hashes.get(from.start.number) !== from.start.hash
      // Without either of them there is no block to continue from yet.
      const start = isStartGone ? genesis && { number: 0, hash: genesis } : from.start
      if (start === null) return
      const reset: NarrationLine = { kind: 'reset', time: nowSeconds() }
      await save({ genesis, start, blocks: [{ ...start, told: [] }] }, [reset], signal)
      resets = 0
    }
  }

  async function look(signal: AbortSignal): Promise<void> {
    cursor ??= await cursors.load()
    if (cursor === undefined) return begin(signal)
    const last = lastOf(cursor)
    const prepared = ahead.take(last.number)
    const range = prepared?.range ?? nextRange(last.number)
    // Not beside a look that begins only now: both would travel in one request, and a node might refuse its size.
    if (prepared !== undefined) prepareNext(prepared.range.to, signal)
    const found = await (prepared?.look ?? chain.look(last.number, range, signal))
    confirmed = confirmedBy(found.head)
    if (fitOf(last, found.before) !== 'kept') return reconsider(cursor, signal)
    resets = 0
    if (range !== undefined) await advance(cursor, range, found, signal)
  }

  /**
   * Whether there is more to read without a pause. New blocks are read immediately only after a pause: otherwise a chain
   * that grows with every look would leave no pause.
   */
  function hasMore(
    before: { readonly confirmed: number; readonly cursor: Cursor | undefined },
    block: number,
  ) {
    const hasAdvanced = cursor !== before.cursor || confirmed > before.confirmed
    return hasAdvanced && confirmed > block && (before.confirmed > block || !isNextImmediate)
  }

  return async (signal) => {
    const before = { confirmed, cursor }
    try {
      await look(signal)
    } catch (error) {
      // After any error a shorter range is easier to answer.
      const isShorter = !(error instanceof StorageError) && size.refused()
      if (isShorter && error instanceof RangeRefusedError) return 'again'
      isNextImmediate = false
      throw error
    }
    if (cursor === undefined) return undefined
    const block = lastOf(cursor).number
    options.onLook?.({ block, due: before.confirmed })
    isNextImmediate = hasMore(before, block)
    if (!isNextImmediate) ahead.forget()
    return isNextImmediate ? 'again' : undefined
  }
}

/** A block without narrated events; none where the node does not have it. */
function blockOf(number: number, hash: Hex | undefined): NarratedBlock[] {
  return hash === undefined ? [] : [{ number, hash, told: [] }]
}

/** Newest first. */
function retractions(removed: readonly NarratedBlock[]): NarrationLine[] {
  const time = nowSeconds()
  return removed
    .flatMap(({ told }) => told)
    .toReversed()
    .map((narration) => ({ kind: 'retraction', time, narration }))
}

function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}

/** Ranges under way beside the one that is read. With one alone, the node rests between two requests. */
const MAX_AHEAD = 2

interface PreparedLook {
  /** The block before the range. */
  readonly last: number
  readonly range: BlockRange
  readonly look: Promise<ChainSnapshot>
}

/** The next looks of a run of ranges, which are under way while the last one is read, saved and printed. */
function createLookAhead(chain: Pick<ChainReader, 'look'>) {
  let prepared: PreparedLook[] = []

  return {
    /** The last block of the prepared ranges. */
    end: () => prepared.at(-1)?.range.to,
    /** The prepared look at the range after this block. Where another is next, all are forgotten. */
    take(last: number): PreparedLook | undefined {
      const next = prepared.shift()
      if (next?.last === last) return next
      prepared = []
      return undefined
    },
    prepare(last: number, range: BlockRange, signal: AbortSignal): void {
      if (prepared.length >= MAX_AHEAD) return
      const look = chain.look(last, range, signal)
      // The look that takes it gets its error.
      look.catch(() => undefined)
      prepared.push({ last, range, look })
    },
    /** After a pause the prepared looks are too old. */
    forget(): void {
      prepared = []
    },
  }
}

/** The narration's progress, for checks and metrics. */
export type NarratorProgress = ReturnType<typeof createNarratorProgress>

export function createNarratorProgress() {
  let last: NarratorLook | undefined
  let at = { unixMs: Date.now(), monotonicMs: performance.now() }
  let isPrinting = false
  let isNarrating = false

  function keep(look: NarratorLook | undefined): void {
    last = look
    at = { unixMs: Date.now(), monotonicMs: performance.now() }
  }

  return {
    /** This server begins or ends to narrate, with its lease. */
    begin(): void {
      isNarrating = true
      keep(undefined)
    },
    end(): void {
      isNarrating = false
      last = undefined
    },
    isNarrating: () => isNarrating,
    /** Notes a look that succeeded. */
    note: (look: NarratorLook): void => keep(look),
    /** Undefined before the first look, and while this server does not narrate. */
    last: () => last,
    /** Unix milliseconds of the last look, or of the beginning. */
    lookedAt: () => at.unixMs,
    /** Milliseconds since then, by the monotonic clock. */
    silentMs: () => performance.now() - at.monotonicMs,
    /** Notes whether lines wait for their reader. */
    notePrinting(isNow: boolean): void {
      isPrinting = isNow
    },
    isPrinting: () => isPrinting,
  }
}

/** Blocks that the look should have narrated and has not. */
export function lagOf({ block, due }: NarratorLook): number {
  return Math.max(0, due - block)
}
