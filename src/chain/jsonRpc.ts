// JSON-RPC 2.0 over HTTP (https://www.jsonrpc.org/specification), and the values that travel in it.
import * as z from 'zod/mini'
import { bytes32Schema } from '../protocol/hex.js'
import { timeLimit } from '../protocol/timeLimit.js'
import { ChainAnswerError } from './errors.js'

/** One call of a batch. */
export interface RpcCall {
  method: string
  params: unknown[]
}

const rpcErrorSchema = z.looseObject({ code: z.int(), message: z.string(), data: z.optional(z.unknown()) })
export type RpcError = z.output<typeof rpcErrorSchema>

/** The node's answer to one call: a result not yet checked, or its error. */
export type RpcAnswer = { result: unknown } | { error: RpcError }

export function isResult(answer: RpcAnswer | undefined): answer is { result: unknown } {
  return answer !== undefined && 'result' in answer
}

const answerSchema = z
  .looseObject({ id: z.int(), error: z.optional(rpcErrorSchema) })
  .check(z.refine((answer) => 'error' in answer || 'result' in answer))
const batchSchema = z.array(answerSchema)

/** Why a node is set aside: no usable answer to a request, a rate limit, another chain, or a head behind the others. */
export type NodeFault = 'no-answer' | 'rate-limit' | 'other-chain' | 'behind'

/** The outcome of a request without answers. */
interface Failure {
  readonly fault: NodeFault
  /** The pause that the node asks for, if any. */
  readonly restMs?: number | undefined
  /** The node refused the batch as a whole: it may have had too many calls or bytes for this node. */
  readonly mayBeTooMany?: boolean
}
const NO_ANSWER: Failure = { fault: 'no-answer' }
const TOO_MANY_REQUESTS = 429
const TOO_LONG = [400, 413]
/** The form in which some nodes refuse a whole batch. */
const refusalSchema = z.looseObject({ error: rpcErrorSchema })

/** One request; never rejects. */
export async function request(
  url: string,
  calls: readonly RpcCall[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ answers: RpcAnswer[] } | Failure> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
      signal: timeLimit(timeoutMs, signal),
    })
    if (!response.ok) {
      await response.body?.cancel()
      return failureOf(response)
    }
    const body: unknown = await response.json()
    if (refusalSchema.safeParse(body).success) return { ...NO_ANSWER, mayBeTooMany: true }
    const answers = inOrder(batchSchema.parse(body), calls.length)
    return answers === null ? NO_ANSWER : { answers }
  } catch {
    return NO_ANSWER
  }
}

function failureOf({ status, headers }: Response): Failure {
  const restMs = retryAfterMs(headers.get('retry-after'), Date.now())
  const fault = status === TOO_MANY_REQUESTS ? 'rate-limit' : 'no-answer'
  return { fault, restMs, mayBeTooMany: TOO_LONG.includes(status) }
}

/** A batch may be answered in any order (JSON-RPC 2.0, 6); a missing or repeated answer makes all of it garbage. */
function inOrder(answers: z.output<typeof batchSchema>, count: number): RpcAnswer[] | null {
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  if (byId.size !== count || answers.length !== count) return null
  const ordered: RpcAnswer[] = []
  for (let id = 0; id < count; id++) {
    const answer = byId.get(id)
    if (!answer) return null
    ordered.push(answer.error === undefined ? { result: answer.result } : { error: answer.error })
  }
  return ordered
}

/**
 * Codes of a rate limit in answers with HTTP status 200: EIP-1474's "limit exceeded" (-32005), HTTP's own (429), and those of
 * large providers: https://eips.ethereum.org/EIPS/eip-1474#error-codes
 */
const LIMIT_CODES = [-32_005, 429, -32_007, -32_012, -32_016]
/** For these methods nodes also use those codes for a query of too many blocks, or for a fault of a transaction. */
const AMBIGUOUS = ['eth_getLogs', 'eth_sendRawTransaction']
const UNAMBIGUOUS_CODE = 429

/** Whether a call was refused only for the node's rate limit. */
export function isRateLimited({ method }: RpcCall, answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('error' in answer)) return false
  const { code } = answer.error
  return AMBIGUOUS.includes(method) ? code === UNAMBIGUOUS_CODE : LIMIT_CODES.includes(code)
}

/**
 * The pause that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3).
 *
 * @param now Unix time in milliseconds
 * @returns milliseconds, or undefined for any other text
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** A number in the form of nodes: hex without leading zeros. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** A number as a node answers it: hex of up to 256 bits. */
export const quantitySchema = z.pipe(
  z.string().check(z.regex(/^0x[0-9a-fA-F]{1,64}$/)),
  z.transform((text: string) => BigInt(text)),
)

/** The same for numbers that JavaScript holds exactly: a block, a log's index, a time. */
export const smallQuantitySchema = z.pipe(
  quantitySchema.check(z.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER), 'too large a number')),
  z.transform(Number),
)

/** The fields of a block that readers use. */
export const blockSchema = z.looseObject({
  number: smallQuantitySchema,
  hash: bytes32Schema,
  parentHash: z.optional(bytes32Schema),
  /** Unix seconds. */
  timestamp: smallQuantitySchema,
})

/** A block without its transactions, by its number or tag. */
export function blockCall(block: number | string): RpcCall {
  const tag = typeof block === 'number' ? toQuantity(block) : block
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** The result of one call of a batch, parsed. @throws ChainAnswerError when the node refused the call, or answered otherwise */
export function resultOf<T>(answer: RpcAnswer | undefined, schema: z.core.$ZodType<T>): T {
  const parsed = z.safeParse(schema, isResult(answer) ? answer.result : undefined)
  if (parsed.success) return parsed.data
  throw new ChainAnswerError('a node refused a call or answered it with something else')
}

/** A reverted execution: https://github.com/ethereum/execution-apis. Older nodes use another code, with the revert data. */
export const EXECUTION_REVERTED = 3
/**
 * Reads that a working node answers without an error. A count at an old block may be pruned: then another node is asked, as for
 * any failure.
 */
const PLAIN_READS = [
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
]

/**
 * Whether a node's well-formed answers resemble a failure of the node itself, such as a lost database or a gateway without a
 * node: only errors, none of them a revert, or an error for a plain read.
 */
export function mayBeNodeFailure(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): boolean {
  const failed = calls.filter((_, index) => isBareError(answers[index]))
  return failed.length === calls.length || failed.some(({ method }) => PLAIN_READS.includes(method))
}

function isBareError(answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('error' in answer)) return false
  const { code, data } = answer.error
  return code !== EXECUTION_REVERTED && (data === undefined || data === null)
}
