import { fitOf } from '../../chain/blockTracker.js'
import { createOrderEscrow } from '../../chain/contracts.js'
import { blockCall, blockSchema, isResult, resultOf } from '../../chain/jsonRpc.js'
import {
  createRangeSize,
  type LogPiece,
  type LogQuery,
  logRequest,
  RangeRefusedError,
} from '../../chain/logReader.js'
import { createReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { Hex } from '../../protocol/hex.js'
import { createHook, createPoller, type Service, type Tick } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createStateDocument } from '../store/documents.js'
import { StorageError } from '../store/engine.js'
import type { ServeLease } from '../store/leaseHolder.js'
import {
  type Cursor,
  cursorSchema,
  extended,
  FINAL_DEPTH,
  judge,
  lastOf,
  type NarratedBlock,
} from './cursor.js'
import { detailsOf, type NarrationLine, narrationOf, queriesOf, type WatchedContracts } from './events.js'
import { createPrinter, type NarratorOutput, type Print } from './lines.js'

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
  const { intervalMs, isWhole } = config.narrator
  const { contracts, logRange } = config.chain
  const print = createPrinter(output, config.narrator)
  const escrow = createOrderEscrow(createViewCaller(rpc), contracts.orderEscrow)
  const watched = async () => (isWhole ? { ...contracts, authority: await escrow.authority() } : contracts)
  return serveLease('narrator', (engine) => {
    const cursors = createStateDocument({ engine, logger, id: 'narrator', schema: cursorSchema })
    const { confirmations } = config.narrator
    const tick = createNarratorTick({ ...deps, watched, logRange, confirmations, cursors, print, progress })
    const narrating = createHook('narrator progress', { start: progress.begin, stop: progress.end })
    return [narrating, createPoller({ name: 'narrator', intervalMs, tick, logger })]
  })
}

/** One of several nodes behind one address may differ for a moment; a chain that was reset stays reset. */
const POLLS_UNTIL_RESET = 5
/** Events that are read in one turn of the event loop: some 10 ms. */
const EVENTS_PER_TURN = 100

/**
 * Narrates every event once, in chain order, and retracts once each event that a reorganization removed. A tick is one request
 * to the chain. Where its history seems to have changed, further ones ask for the kept blocks, as many as the node's plan makes necessary. The cursor is saved before the lines are printed:
 * a failing node or store repeats no line. A process that is killed in between loses the lines of one tick, and prints none twice.
 *
 * Do not call it again before it has resolved.
 */
export function createNarratorTick(options: {
  /** The contracts whose events are narrated; read once. */
  readonly watched: () => Promise<WatchedContracts>
  /** The most blocks of one query. */
  readonly logRange: number
  readonly confirmations: number
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  /** Keeps the cursor across restarts. */
  readonly cursors: { load(): Promise<Cursor | undefined>; save(cursor: Cursor): Promise<void> }
  /** Each event with who and what it is of. */
  readonly hasDetails?: boolean
  readonly print: Print
  readonly progress: Pick<NarratorProgress, 'note' | 'notePrinting'>
  readonly logger: Logger
}): Tick {
  const {
    watched,
    logRange,
    confirmations,
    rpc,
    cursors,
    hasDetails = false,
    print,
    progress,
    logger,
  } = options
  let queries: readonly LogQuery[] | undefined
  const size = createRangeSize(logRange)
  // Many blocks in one request may be more than a provider's plan gives in a second.
  const lane = createReadLane(rpc)
  let cursor: Cursor | undefined
  /** The last block with enough confirmations, as far as is known. */
  let confirmed = 0
  let resets = 0
  let isAfterPause = true

  /** The present hashes of blocks, without the blocks that the node does not have. */
  async function hashesOf(numbers: readonly number[], signal: AbortSignal): Promise<Map<number, Hex>> {
    const answers = await Promise.all(numbers.map((number) => lane.send([blockCall(number)], signal)))
    const blocks = answers.map(([answer]) => blockSchema.safeParse(isResult(answer) ? answer.result : null))
    return new Map(blocks.flatMap(({ data }) => (data ? [[data.number, data.hash] as const] : [])))
  }

  async function save(next: Cursor, lines: readonly NarrationLine[], signal: AbortSignal): Promise<void> {
    await cursors.save(next)
    cursor = next
    progress.notePrinting(true)
    await print(lines, signal).finally(() => progress.notePrinting(false))
  }

  function noteHead(head: number): void {
    confirmed = Math.max(0, head - (confirmations - 1))
  }

  /** The blocks that a reorganization may replace count as narrated, without events, so that one is no reset. */
  async function begin(signal: AbortSignal): Promise<void> {
    const [head] = await rpc.send([blockCall('latest')], signal)
    noteHead(resultOf(head, blockSchema).number)
    const lowest = Math.max(0, confirmed - FINAL_DEPTH)
    const numbers = Array.from({ length: confirmed - lowest + 1 }, (_, index) => lowest + index)
    const hashes = await hashesOf([0, ...numbers], signal)
    const hash = hashes.get(confirmed)
    if (hash === undefined) return
    const known = Array.from(hashes, (block) => ({ number: block[0], hash: block[1], told: [] }))
    const blocks = known.filter(({ number }) => number >= lowest)
    await save({ genesis: hashes.get(0) ?? null, start: { number: confirmed, hash }, blocks }, [], signal)
  }

  /** The block that was narrated last is missing or has another hash. */
  async function reconsider(from: Cursor, signal: AbortSignal): Promise<void> {
    const { start, blocks } = from
    const hashes = await hashesOf([0, start.number, ...blocks.map(({ number }) => number)], signal)
    const verdict = judge(from, (number) => hashes.get(number))
    resets = verdict === 'reset' ? resets + 1 : 0
    if (typeof verdict === 'object') {
      logger.warn('chain reorganized', { count: verdict.removed.length })
      return save(verdict.cursor, retractions(verdict.removed), signal)
    }
    const genesis = hashes.get(0) ?? null
    const isStartKept = hashes.get(start.number) === start.hash
    // Without either of them there is no block to continue from yet.
    const next = isStartKept ? start : genesis && { number: 0, hash: genesis }
    if (resets < POLLS_UNTIL_RESET || next === null) return
    const reset: NarrationLine = { kind: 'reset', time: nowSeconds() }
    await save({ genesis, start: next, blocks: [{ ...next, told: [] }] }, [reset], signal)
    resets = 0
  }

  async function narrated({ logs, last }: LogPiece) {
    const blocks: NarratedBlock[] = []
    const lines: NarrationLine[] = []
    for (const [index, log] of logs.entries()) {
      if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await new Promise(setImmediate)
      const { blockNumber: number, blockHash: hash, blockTimestamp } = log
      const told = narrationOf(log)
      if (told === null) {
        logger.warn('event not readable', { blockNumber: number })
        continue
      }
      const narration = hasDetails ? { ...told, details: detailsOf(log) } : told
      if (blocks.at(-1)?.number !== number) blocks.push({ number, hash, told: [] })
      blocks.at(-1)?.told.push(narration)
      lines.push({ kind: 'event', time: BigInt(blockTimestamp ?? nowSeconds()), narration })
    }
    if (blocks.at(-1)?.number !== last.number) blocks.push({ ...last, told: [] })
    return { blocks, lines }
  }

  async function poll(signal: AbortSignal): Promise<void> {
    queries ??= queriesOf(await watched())
    cursor ??= await cursors.load()
    if (cursor === undefined) return begin(signal)
    const last = lastOf(cursor)
    const range = size.part({ from: last.number + 1, to: confirmed })
    const request = range.from <= range.to ? logRequest(queries, range) : undefined
    // The request of a range ends with the block before it, so that a reorganization during the request is noticed.
    const calls = [blockCall('latest'), ...(request?.calls ?? [blockCall(last.number)])]
    const answers = await rpc.send(calls, signal)
    const { number: head } = resultOf(answers[0], blockSchema)
    noteHead(head)
    const lastNow = resultOf(answers.at(-1), blockSchema.nullable())
    if (fitOf(last, lastNow) !== 'kept') return reconsider(cursor, signal)
    resets = 0
    const found = request?.read(answers.slice(1))
    // A node that is behind the one that reported the head does not have the range's end.
    if (found === undefined) return
    size.answered(range)
    const { blocks, lines } = await narrated(found)
    await save(extended(cursor, blocks, head), lines, signal)
  }

  return async (signal) => {
    const before = { confirmed, cursor }
    try {
      await poll(signal)
    } catch (error) {
      // After any error a shorter range is easier to answer.
      const isShorter = !(error instanceof StorageError) && size.refused()
      if (isShorter && error instanceof RangeRefusedError) return 'again'
      isAfterPause = true
      throw error
    }
    if (cursor === undefined) return undefined
    const block = lastOf(cursor).number
    progress.note({ block, lag: Math.max(0, before.confirmed - block) })
    // New blocks are read at once only after a pause: otherwise a chain that grows with every poll would leave no pause.
    const due = isAfterPause ? confirmed : Math.min(confirmed, before.confirmed)
    const hasAdvanced = cursor !== before.cursor || confirmed > before.confirmed
    isAfterPause = !hasAdvanced || due <= block
    return isAfterPause ? undefined : 'again'
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

/** The narration's progress, for checks and metrics. */
export type NarratorProgress = ReturnType<typeof createNarratorProgress>

export function createNarratorProgress() {
  let [isNarrating, isPrinting] = [false, false]
  /** The last narrated block, and how many the poll should have narrated beyond it. */
  let last: { readonly block: number; readonly lag: number } | undefined
  let at = performance.now()

  function keep(isNow: boolean, poll?: typeof last): void {
    isNarrating = isNow
    last = poll
    at = performance.now()
  }

  return {
    /** This server begins or ends to narrate, with its lease. */
    begin: () => keep(true),
    end: () => keep(false),
    isNarrating: () => isNarrating,
    /** Notes a poll that succeeded. */
    note: (poll: NonNullable<typeof last>) => keep(true, poll),
    /** Undefined before the first poll, and while this server does not narrate. */
    last: () => last,
    /** Milliseconds since the last poll, or since the beginning, by the monotonic clock. */
    silentMs: () => performance.now() - at,
    /** Notes whether lines wait for their reader. */
    notePrinting(isNow: boolean): void {
      isPrinting = isNow
    },
    isPrinting: () => isPrinting,
  }
}
