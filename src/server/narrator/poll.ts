import * as z from 'zod'
import { FINAL_DEPTH, fitOf } from '../../chain/blockTracker.js'
import { blockCall, blockSchema, isResult, resultOf } from '../../chain/jsonRpc.js'
import { type BlockId, createLogReader, type LogPiece } from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { createHook, createPoller, type Service, type Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createStateDocument } from '../store/documents.js'
import type { ServeLease } from '../store/leaseHolder.js'
import {
  everyContract,
  type NarrationLine,
  narrationOf,
  narrationSchema,
  queriesOf,
  type WatchedContracts,
} from './events.js'
import { createPrinter, type NarratorOutput, type Print } from './lines.js'

/**
 * Wires the narrator, which works while this server holds its lease. Each term begins with the stored cursor, and its saves
 * have the term's fence, so no two servers narrate one event. Starts no service.
 */
export function buildNarrator(deps: {
  readonly config: Config
  readonly rpc: Rpc
  readonly serveLease: ServeLease
  readonly logger: Logger
  readonly output: NarratorOutput
  readonly progress: NarratorProgress
}): Service {
  const { config, rpc, serveLease, logger, output, progress } = deps
  const { intervalMs, isWhole } = config.narrator
  const { contracts, logRange, confirmations } = config.chain
  const print = createPrinter(output, config.narrator)
  const watched = async () => (isWhole ? everyContract(createViewCaller(rpc), contracts) : contracts)
  return serveLease('narrator', (engine, { signal: stopping }) => {
    const cursors = createStateDocument({ engine, logger, id: 'narrator', schema: cursorSchema })
    const tick = createNarratorTick({ ...deps, watched, logRange, confirmations, cursors, print, stopping })
    const note = (isNarrating: boolean) => () =>
      Object.assign(progress, { isNarrating, last: undefined, atMs: performance.now() })
    const narrating = createHook('narrator progress', { start: note(true), stop: note(false) })
    return [narrating, createPoller({ name: 'narrator', intervalMs, tick, logger })]
  })
}

/** What the operator's endpoints show of the narrator. */
export interface NarratorProgress {
  isNarrating: boolean
  /** Whether lines wait for their reader. */
  isPrinting: boolean
  /** The time of the last poll, or else of the beginning, by the monotonic clock. */
  atMs: number
  /** The last narrated block, and how many the last poll should have narrated beyond it; undefined before the first poll. */
  last?: { readonly block: number; readonly lag: number } | undefined
}

export function createNarratorProgress(): NarratorProgress {
  return { isNarrating: false, isPrinting: false, atMs: 0 }
}

const blockIdSchema = z.strictObject({ number: z.int().min(0), hash: bytes32Schema })

const cursorSchema = z.strictObject({
  /** The hash of block 0, which identifies the chain; null where the node does not have that block. */
  genesis: z.nullable(bytes32Schema),
  /** The block that narration began after: earlier events are never narrated while it is on the chain. */
  start: blockIdSchema,
  /**
   * Narrated blocks, lowest first; the last one is the end of the narration. They contain every block with narrated events,
   * down to the first one, which counts as final.
   */
  blocks: z.array(z.strictObject({ ...blockIdSchema.shape, told: z.array(narrationSchema) })).min(1),
})
/** The end of the narration, and the events that it may have to retract. */
export type Cursor = z.output<typeof cursorSchema>
type NarratedBlock = Cursor['blocks'][number]

/** One of several nodes behind one address may differ for a moment; a chain that was reset stays reset. */
const POLLS_UNTIL_RESET = 5
/** Events that are read in one turn of the event loop: some 10 ms. */
const EVENTS_PER_TURN = 100

/**
 * Narrates every event once, in chain order, and retracts once each event that a reorganization removed (README.md). The cursor is saved
 * before the lines are printed: a failing node or store repeats no line. Do not call it again before it has resolved.
 */
export function createNarratorTick(options: {
  /** The contracts whose events are narrated; read once. */
  readonly watched: () => Promise<WatchedContracts>
  readonly logRange: number
  readonly confirmations: number
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly cursors: { load(): Promise<Cursor | undefined>; save(cursor: Cursor): Promise<void> }
  /** The narration of a log; null where it has another form. */
  readonly narrate?: typeof narrationOf
  readonly print: Print
  readonly progress: NarratorProgress
  readonly stopping: AbortSignal
  readonly logger: Logger
}): () => ReturnType<Tick> {
  const { rpc, cursors, narrate = narrationOf, print, progress, stopping, logger } = options
  let events: ReturnType<typeof createLogReader> | undefined
  // Many blocks in one request may be more than a provider's plan gives in a second.
  const lane = createReadLane(rpc)
  let cursor: Cursor | undefined
  let resets = 0

  /** The present hashes of blocks, without the blocks that the node does not have. */
  async function hashesOf(numbers: readonly number[]): Promise<Map<number, Hex>> {
    const answers = await Promise.all(numbers.map((number) => lane.send([blockCall(number)], stopping)))
    const blocks = answers.map(([answer]) => blockSchema.safeParse(isResult(answer) ? answer.result : null))
    return new Map(blocks.flatMap(({ data }) => (data ? [[data.number, data.hash] as const] : [])))
  }

  async function save(next: Cursor, lines: readonly NarrationLine[]): Promise<void> {
    await cursors.save(next)
    cursor = next
    progress.isPrinting = true
    await print(lines, stopping).finally(() => {
      progress.isPrinting = false
    })
  }

  /** The blocks that a reorganization may replace count as narrated, without events, so that one is no reset. */
  async function begin(confirmed: number): Promise<void> {
    const lowest = Math.max(0, confirmed - FINAL_DEPTH)
    const numbers = Array.from({ length: confirmed - lowest + 1 }, (_, index) => lowest + index)
    const hashes = await hashesOf([0, ...numbers])
    const blocks = numbers.flatMap((number) => {
      const hash = hashes.get(number)
      return hash === undefined ? [] : [{ number, hash, told: [] }]
    })
    const last = blocks.at(-1)
    if (last?.number !== confirmed) return
    const start = { number: confirmed, hash: last.hash }
    await save({ genesis: hashes.get(0) ?? null, start, blocks }, [])
  }

  /** The block that was narrated last is missing or has another hash. */
  async function reconsider(from: Cursor): Promise<void> {
    const { start, blocks } = from
    const hashes = await hashesOf([0, start.number, ...blocks.map(({ number }) => number)])
    // Only another block at the same height proves a reorganization. A missing one does not: a node that is behind has fewer blocks, and so
    // has a chain that was just shortened.
    const isOther = ({ number, hash }: BlockId) => (hashes.get(number) ?? hash) !== hash
    const firstOther = blocks.findIndex(isOther)
    const isReset = firstOther === 0 || (from.genesis !== null && isOther({ number: 0, hash: from.genesis }))
    resets = isReset ? resets + 1 : 0
    if (isReset) return beginAnew(start, hashes)
    if (firstOther === -1) return
    const [kept, removed] = [blocks.slice(0, firstOther), blocks.slice(firstOther)]
    logger.warn('chain reorganized', { count: removed.length })
    const { number, hash } = lastOf({ blocks: kept })
    const told = removed.flatMap((block) => block.told).toReversed()
    const time = nowSeconds()
    await save(
      // If narration began at a head that was reorganized away, it began after the rest of that history.
      { ...from, start: start.number > number ? { number, hash } : start, blocks: kept },
      told.map((narration) => ({ kind: 'retraction', time, narration })),
    )
  }

  /** A block that counted as final is another one. */
  async function beginAnew(start: BlockId, hashes: ReadonlyMap<number, Hex>): Promise<void> {
    const genesis = hashes.get(0) ?? null
    const isStartKept = hashes.get(start.number) === start.hash
    // There is no block to continue from yet without either of them.
    const next = isStartKept ? start : genesis && { number: 0, hash: genesis }
    if (resets < POLLS_UNTIL_RESET || next === null) return
    const anew = { genesis, start: next, blocks: [{ ...next, told: [] }] }
    await save(anew, [{ kind: 'reset', time: nowSeconds() }])
    resets = 0
  }

  async function narrated({ logs, last }: LogPiece) {
    const blocks: NarratedBlock[] = []
    const lines: NarrationLine[] = []
    for (const [index, log] of logs.entries()) {
      if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await new Promise(setImmediate)
      const { blockNumber: number, blockHash: hash, blockTimestamp } = log
      const narration = narrate(log)
      if (narration === null) {
        logger.warn('event not readable', { blockNumber: number })
        continue
      }
      if (blocks.at(-1)?.number !== number) blocks.push({ number, hash, told: [] })
      blocks.at(-1)?.told.push(narration)
      lines.push({ kind: 'event', time: BigInt(blockTimestamp ?? nowSeconds()), narration })
    }
    if (blocks.at(-1)?.number !== last.number) blocks.push({ ...last, told: [] })
    return { blocks, lines }
  }

  async function advance(from: Cursor, to: number, head: number): Promise<void> {
    const last = lastOf(from)
    events ??= createLogReader({
      rpc: { send: (calls) => rpc.send(calls, stopping) },
      queries: queriesOf(await options.watched()),
      maxBlocks: options.logRange,
    })
    const found = await events.readPiece({ from: last.number + 1, to })
    // A node behind the one that reported the head does not have the range's end. Another history is for the next tick.
    if (found === undefined || fitOf(last, found.parent) !== 'kept') return
    const { blocks, lines } = await narrated(found)
    const all = [...from.blocks, ...blocks]
    // The highest block that is final comes first, without its events.
    const first = Math.max(
      0,
      all.findLastIndex(({ number }) => number <= head - FINAL_DEPTH),
    )
    const kept = all.slice(first).map((block, index) => (index === 0 ? { ...block, told: [] } : block))
    await save({ ...from, blocks: kept }, lines)
  }

  return async () => {
    const before = cursor
    cursor ??= await cursors.load()
    const last = cursor && lastOf(cursor)
    const calls = [blockCall('latest'), ...(last ? [blockCall(last.number)] : [])]
    const [latest, lastNow] = await rpc.send(calls, stopping)
    const head = resultOf(latest, blockSchema).number
    /** The last block with enough confirmations. */
    const confirmed = Math.max(0, head - (options.confirmations - 1))
    if (cursor === undefined || last === undefined) await begin(confirmed)
    else if (fitOf(last, resultOf(lastNow, z.nullable(blockSchema))) !== 'kept') await reconsider(cursor)
    else {
      resets = 0
      if (last.number < confirmed) await advance(cursor, confirmed, head)
    }
    if (cursor === undefined) return undefined
    const block = lastOf(cursor).number
    Object.assign(progress, { last: { block, lag: Math.max(0, confirmed - block) }, atMs: performance.now() })
    return cursor !== before && block < confirmed ? 'again' : undefined
  }
}

function lastOf({ blocks }: Pick<Cursor, 'blocks'>) {
  const last = blocks.at(-1)
  if (last === undefined) throw new TypeError('a cursor has a block')
  return last
}

function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}
