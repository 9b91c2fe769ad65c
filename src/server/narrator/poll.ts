import * as z from 'zod'
import { fitOf } from '../../chain/blockTracker.js'
import { blockCall, blockSchema, isResult, resultOf } from '../../chain/jsonRpc.js'
import { type BlockRange, type ChainLog, createLogReader, type LogPiece } from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller, type Service, type Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createStateDocument } from '../store/documents.js'
import type { ServeLease } from '../store/leaseHolder.js'
import {
  type Cursor,
  cursorSchema,
  extended,
  FINAL_DEPTH,
  lastOf,
  type NarratedBlock,
  remaining,
} from './cursor.js'
import {
  everyContract,
  type Narration,
  type NarrationLine,
  narrationOf,
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
  readonly narrate?: (log: ChainLog) => Narration | null
  readonly print: Print
  readonly progress: NarratorProgress
  readonly stopping: AbortSignal
  readonly logger: Logger
}): () => ReturnType<Tick> {
  const { watched, logRange, confirmations, rpc, cursors, narrate = narrationOf, print, progress } = options
  const { stopping, logger } = options
  const sending: Pick<Rpc, 'send'> = { send: (calls) => rpc.send(calls, stopping) }
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
    const hash = hashes.get(confirmed)
    if (hash === undefined) return
    const known = Array.from(hashes, (block) => ({ number: block[0], hash: block[1], told: [] }))
    const blocks = known.filter(({ number }) => number >= lowest)
    await save({ genesis: hashes.get(0) ?? null, start: { number: confirmed, hash }, blocks }, [])
  }

  /** The block that was narrated last is missing or has another hash. */
  async function reconsider(from: Cursor): Promise<void> {
    const { start, blocks } = from
    const hashes = await hashesOf([0, start.number, ...blocks.map(({ number }) => number)])
    const kept = remaining(from, hashes)
    resets = kept === 'reset' ? resets + 1 : 0
    if (typeof kept === 'object') {
      const removed = blocks.slice(kept.blocks.length)
      logger.warn('chain reorganized', { count: removed.length })
      return save(kept, retractions(removed))
    }
    const genesis = hashes.get(0) ?? null
    const isStartKept = hashes.get(start.number) === start.hash
    // There is no block to continue from yet without either of them.
    const next = isStartKept ? start : genesis && { number: 0, hash: genesis }
    if (resets < POLLS_UNTIL_RESET || next === null) return
    const blocksAnew = [{ ...next, told: [] }]
    await save({ genesis, start: next, blocks: blocksAnew }, [{ kind: 'reset', time: nowSeconds() }])
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

  /** @returns the last block with enough confirmations */
  async function poll(): Promise<number> {
    cursor ??= await cursors.load()
    const last = cursor && lastOf(cursor)
    const calls = [blockCall('latest'), ...(last ? [blockCall(last.number)] : [])]
    const [latest, lastNow] = await rpc.send(calls, stopping)
    const head = resultOf(latest, blockSchema).number
    const confirmed = Math.max(0, head - (confirmations - 1))
    if (cursor === undefined || last === undefined) await begin(confirmed)
    else if (fitOf(last, resultOf(lastNow, z.nullable(blockSchema))) !== 'kept') await reconsider(cursor)
    else {
      resets = 0
      if (last.number < confirmed) await advance(cursor, { from: last.number + 1, to: confirmed }, head)
    }
    return confirmed
  }

  async function advance(from: Cursor, range: BlockRange, head: number): Promise<void> {
    events ??= createLogReader({ rpc: sending, queries: queriesOf(await watched()), maxBlocks: logRange })
    const found = await events.readPiece(range)
    // A node behind the one that reported the head does not have the range's end. Another history is for the next tick.
    if (found === undefined || fitOf(lastOf(from), found.parent) !== 'kept') return
    const { blocks, lines } = await narrated(found)
    await save(extended(from, blocks, head), lines)
  }

  return async () => {
    const before = cursor
    const confirmed = await poll()
    if (cursor === undefined) return undefined
    const block = lastOf(cursor).number
    Object.assign(progress, { last: { block, lag: Math.max(0, confirmed - block) }, atMs: performance.now() })
    return cursor !== before && block < confirmed ? 'again' : undefined
  }
}

/** Newest first. */
function retractions(removed: readonly NarratedBlock[]): NarrationLine[] {
  const time = nowSeconds()
  const told = removed.flatMap((block) => block.told).toReversed()
  return told.map((narration) => ({ kind: 'retraction', time, narration }))
}

function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}
