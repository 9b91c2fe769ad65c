// The one reader of contracts' events. It reads their fields without a schema each: a server that catches up reads hundreds of
// thousands, and schemas would be as slow as the node. Every function throws ChainAnswerError for a malformed field.
import * as z from 'zod/mini'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { ChainAnswerError, ChainUnavailableError, HistoriesDifferError, RangeRefusedError } from './errors.js'
import {
  blockCall,
  blockSchema,
  isRateLimited,
  isResult,
  type RpcAnswer,
  type RpcCall,
  resultOf,
  toQuantity,
} from './jsonRpc.js'
import type { Rpc } from './rpc.js'

const WORD = /^0x[0-9a-f]{64}$/
const HEX = /^0x(?:[0-9a-f]{2})*$/
/** Quantities that a JavaScript number holds exactly. */
const SMALL_QUANTITY = /^0x[0-9a-f]{1,13}$/
const SMALL_WORD = /^0x0{51}[0-9a-f]{13}$/
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/

/** 32 bytes: a topic, a hash. */
export function wordOf(text: unknown): Hex {
  return matching(text, WORD)
}

export function hexOf(text: unknown): Hex {
  return matching(text, HEX)
}

/** A block's number, a log's index, a time. */
export function numberOf(text: unknown): number {
  return Number(matching(text, SMALL_QUANTITY))
}

const WORD_DIGITS = 64
const ADDRESS_DIGITS = 40

/** One of the words of a log's data. */
export function wordAt(data: string, index: number): Hex {
  const begin = 2 + index * WORD_DIGITS
  return wordOf(`0x${data.slice(begin, begin + WORD_DIGITS)}`)
}

/** The address that a word holds, checksummed. */
export function addressIn(word: string): Hex {
  return checksum(`0x${matching(word, ADDRESS_WORD).slice(-ADDRESS_DIGITS)}`)
}

/** The number that a word holds, when it is as small as a time. */
export function numberIn(word: string): number {
  return Number(matching(word, SMALL_WORD))
}

function matching(text: unknown, pattern: RegExp): Hex {
  // Nearly all nodes write lower case, and lowering it would copy it.
  if (isHex(text, pattern)) return text
  const lower = typeof text === 'string' ? text.toLowerCase() : text
  if (isHex(lower, pattern)) return lower
  throw malformed()
}

function isHex(text: unknown, pattern: RegExp): text is Hex {
  return typeof text === 'string' && pattern.test(text)
}

function malformed(): ChainAnswerError {
  return new ChainAnswerError('a node answered with an event of another form')
}

/** A block in one version of the chain: after a reorganization its number has another hash. */
export interface BlockId {
  readonly number: number
  readonly hash: Hex
}

/** An event as a contract logged it. */
export interface ChainLog {
  /** In lower case. */
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
  readonly txHash: Hex
  /** Unix seconds; not every node gives it. */
  readonly blockTimestamp?: number | undefined
}

/** Which logs to read: those of one contract, by their topics in the form of `eth_getLogs`; null for any. */
export interface LogQuery {
  readonly address: Hex
  readonly topics: readonly (string | readonly string[] | null)[]
}

/** Blocks from one to another, both included. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** The events in a range of blocks. */
export interface LogPiece {
  /** In chain order, each once. */
  readonly logs: readonly ChainLog[]
  /** The block before the range; null when the node has none. */
  readonly parent: BlockId | null
  /** The range's last block. */
  readonly last: BlockId
}

/**
 * The questions for the logs of a range, which have to travel in one request, and the reading of their answers. Asks for the range's last block before the queries, because a node that is behind returns fewer logs rather than an error.
 * Several queries are followed by the same question, because the logs of two histories need not contradict one another; after
 * a single query, the parent of the next range shows that the history is another.
 */
export function logRequest(queries: readonly LogQuery[], range: BlockRange) {
  const { from, to } = range
  const last = blockCall(to)
  const logCalls = queries.map(({ address, topics }) => ({
    method: 'eth_getLogs',
    params: [{ address, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) }],
  }))
  const again = queries.length > 1 ? [last] : []

  /** Yields after each log: a block in which thousands joined is long to read. */
  function* reading(answers: readonly RpcAnswer[]): Generator<void, LogPiece | undefined> {
    const end = resultOf(answers[0], z.nullable(blockSchema))
    if (end === null) return undefined
    const logAnswers = answers.slice(1, 1 + logCalls.length)
    assertAnswered(logCalls, logAnswers)
    const endAgain = answers.slice(1 + logCalls.length, -1)
    if (endAgain.some((answer) => resultOf(answer, z.nullable(blockSchema))?.hash !== end.hash)) {
      throw new HistoriesDifferError()
    }
    const found: ChainLog[] = []
    for (const [index, { address }] of queries.entries()) {
      const read = createReader(address.toLowerCase(), range)
      for (const log of logsIn(logAnswers[index])) yield void found.push(read(log))
    }
    const logs = found.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    if (!isOneHistory(logs, end)) throw new HistoriesDifferError()
    const parent = from === 0 ? null : resultOf(answers.at(-1), z.nullable(blockSchema))
    const once = logs.filter((log, index) => !isSamePlace(log, logs[index - 1]))
    return { logs: once, parent: parent && idOf(parent), last: idOf(end) }
  }

  return {
    calls: [last, ...logCalls, ...again, blockCall(Math.max(0, from - 1))],
    reading,
    /**
     * Undefined when the node does not have the range's last block.
     * @throws RangeRefusedError, ChainUnavailableError, ChainAnswerError
     */
    read(answers: readonly RpcAnswer[]): LogPiece | undefined {
      const steps = reading(answers)
      for (;;) {
        const { done, value } = steps.next()
        if (done) return value ?? undefined
      }
    },
  }
}

/** Without the block's other fields, because readers keep it. */
function idOf({ number, hash }: BlockId): BlockId {
  return { number, hash }
}

/**
 * Nodes limit a query by blocks, events, bytes or time, each with its own messages and codes. A rate limit says nothing about the
 * range.
 */
function assertAnswered(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): void {
  if (calls.some((call, index) => isRateLimited(call, answers[index])))
    throw new ChainUnavailableError(1, true)
  if (!answers.every(isResult)) throw new RangeRefusedError('a node refuses to give the events of a range')
}

/** Longer than the data of any of our events. */
const MAX_DATA_LENGTH = 2 + 2 * 65_536
const MAX_TOPICS = 4

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** Logs share most fields with the log before: its block, its transaction, its event. Only another text is read. */
function remembering<T>(read: (text: unknown) => T): (text: unknown) => T {
  let last: { readonly text: unknown; readonly value: T } | undefined
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, value: read(text) }
    return last.value
  }
}

/** Reads the logs of one query's answer. */
function createReader(contract: string, { from, to }: BlockRange): (log: unknown) => ChainLog {
  const addressOf = remembering(hexOf)
  const eventOf = remembering(wordOf)
  const blockNumberOf = remembering(numberOf)
  const blockHashOf = remembering(wordOf)
  const txHashOf = remembering(wordOf)
  const timestampOf = remembering((text) => (text === undefined ? undefined : numberOf(text)))

  function topicsOf(topics: unknown): Hex[] {
    if (!isList(topics) || topics.length === 0 || topics.length > MAX_TOPICS) throw malformed()
    return topics.map((topic, index) => (index === 0 ? eventOf(topic) : wordOf(topic)))
  }

  function dataOf(data: unknown): Hex {
    if (typeof data === 'string' && data.length > MAX_DATA_LENGTH) throw malformed()
    return hexOf(data)
  }

  return (log) => {
    if (!isRecord(log)) throw malformed()
    const address = addressOf(log.address)
    const blockNumber = blockNumberOf(log.blockNumber)
    if (address !== contract || blockNumber < from || blockNumber > to) {
      throw new ChainAnswerError('a node answered with events that it was not asked for')
    }
    return {
      address,
      topics: topicsOf(log.topics),
      data: dataOf(log.data),
      blockNumber,
      blockHash: blockHashOf(log.blockHash),
      logIndex: numberOf(log.logIndex),
      txHash: txHashOf(log.transactionHash),
      blockTimestamp: timestampOf(log.blockTimestamp),
    }
  }
}

/** The logs that one query found. @throws ChainAnswerError unless the query asked for all of them */
function logsIn(answer: RpcAnswer | undefined): readonly unknown[] {
  const logs = isResult(answer) ? answer.result : undefined
  if (!isList(logs)) throw malformed()
  return logs
}

/** A node may list an event twice. */
function isSamePlace(log: ChainLog, other: ChainLog | undefined): boolean {
  return log.blockNumber === other?.blockNumber && log.logIndex === other.logIndex
}

/**
 * Whether the logs of each block name one hash, and those of the last block its own: a node may switch branches between two
 * queries.
 */
function isOneHistory(logs: readonly ChainLog[], last: BlockId): boolean {
  return logs.every(({ blockNumber, blockHash }, index) => {
    const next = logs[index + 1]
    const other = next?.blockNumber === blockNumber ? next.blockHash : undefined
    const own = blockNumber === last.number ? last.hash : blockHash
    return blockHash === own && blockHash === (other ?? own)
  })
}

/**
 * Answers in a row after which a longer range is tried again. A provider's limit does not change, so trying at every second query
 * would waste a third of them. Where a range had too many events, the next ones may have fewer.
 */
const ANSWERS_UNTIL_LONGER = 8

/**
 * How many blocks one query spans, as far as the nodes accept them.
 * Halved with each refusal, doubled after several answers in a row, up to the configured size.
 */
export function createRangeSize(maxBlocks: number) {
  let blocks = maxBlocks
  let inRow = 0

  function isWhole({ from, to }: BlockRange): boolean {
    return to - from + 1 === blocks
  }

  return {
    /** The first blocks of a range that one query may span, or its last ones. */
    part({ from, to }: BlockRange, { backwards = false }: { readonly backwards?: boolean } = {}): BlockRange {
      return backwards
        ? { from: Math.max(from, to - blocks + 1), to }
        : { from, to: Math.min(to, from + blocks - 1) }
    },
    /** A range was answered. One that is not whole says nothing of the size. */
    answered(range: BlockRange): void {
      if (!isWhole(range) || ++inRow < ANSWERS_UNTIL_LONGER) return
      blocks = Math.min(maxBlocks, blocks * 2)
      inRow = 0
    },
    /** A range was refused. False when there is no shorter one. */
    refused({ from, to }: BlockRange): boolean {
      const refused = to - from + 1
      const isShorter = refused > 1
      blocks = Math.max(1, Math.floor(refused / 2))
      inRow = 0
      return isShorter
    },
  }
}

/** Reads long ranges in pieces that the nodes accept. */
export interface PieceReader<P> {
  /**
   * The range's first piece, or its last one when reading backwards. Undefined when the node that answered is behind.
   * @throws RangeRefusedError when a node does not give the events of even one block; ChainUnavailableError, ChainAnswerError
   */
  readPiece(
    range: BlockRange,
    options?: { readonly backwards?: boolean },
  ): Promise<(P & BlockRange) | undefined>
}

/** @param read reads one piece; a RangeRefusedError asks for a shorter one, and a silence for a shorter one the next time */
export function createPieceReader<P>(
  maxBlocks: number,
  read: (range: BlockRange) => Promise<P | undefined>,
): PieceReader<P> {
  const size = createRangeSize(maxBlocks)
  return {
    async readPiece(range, options) {
      for (;;) {
        const part = size.part(range, options)
        try {
          const piece = await read(part)
          if (piece === undefined) return undefined
          size.answered(part)
          return { ...part, ...piece }
        } catch (error) {
          // A node that is too slow for a range is asked for a shorter one the next time: each silence sets it aside for everyone.
          const isSilent = error instanceof ChainUnavailableError
          if (!isSilent && !(error instanceof RangeRefusedError)) throw error
          const isShorter = size.refused(part)
          if (isSilent || !isShorter) throw error
        }
      }
    },
  }
}

export function createLogReader(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly queries: readonly LogQuery[]
  /** Blocks that one query may span. */
  readonly maxBlocks: number
  /** Where a page shows frames meanwhile: when a slice of the reading is over, and the wait for the next. */
  readonly slices?: { isOver(): boolean; next(): Promise<void> }
}): PieceReader<LogPiece> {
  const { rpc, queries, maxBlocks, slices } = options
  return createPieceReader(maxBlocks, async (range) => {
    const request = logRequest(queries, range)
    const answers = await rpc.send(request.calls)
    if (slices === undefined) return request.read(answers)
    const steps = request.reading(answers)
    for (;;) {
      if (slices.isOver()) await slices.next()
      const { done, value } = steps.next()
      if (done) return value ?? undefined
    }
  })
}

/** Nodes take a query over so many blocks; the reader asks for fewer where they do not. */
const MAX_BLOCKS = 50_000

/** The pieces from a block to the first one, the last one first. @throws ChainUnavailableError, ChainAnswerError */
export async function* readBackwards(
  source: { readonly rpc: Pick<Rpc, 'send'>; readonly queries: readonly LogQuery[] },
  head: number,
): AsyncGenerator<LogPiece> {
  const reader = createLogReader({ ...source, maxBlocks: MAX_BLOCKS })
  for (let to = head; to >= 0; ) {
    const piece = await reader.readPiece({ from: 0, to }, { backwards: true })
    if (piece === undefined) throw new ChainAnswerError('the node lags behind')
    yield piece
    to = piece.from - 1
  }
}
