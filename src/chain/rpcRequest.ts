// JSON-RPC 2.0 over HTTP: https://www.jsonrpc.org/specification
import { z } from 'zod'
import { timeLimit } from '../protocol/timeLimit.js'

/** One call of a batch. */
export interface RpcCall {
  method: string
  params: unknown[]
}

const rpcErrorSchema = z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() })
export type RpcError = z.output<typeof rpcErrorSchema>

/** The node's answer to one call: a result not yet checked, or its error. */
export type RpcAnswer = { result: unknown } | { error: RpcError }

const answerSchema = z.union([
  z.looseObject({ id: z.int(), error: rpcErrorSchema }),
  z.looseObject({ id: z.int(), result: z.unknown() }).refine((answer) => 'result' in answer),
])
const batchSchema = z.array(answerSchema)

/** Why a node is set aside: no usable answer to a request, asked too much, the answers of another chain, or old ones. */
export type NodeFault = 'no-answer' | 'rate-limit' | 'other-chain' | 'behind'

/** What a request came to that brought no answers. */
export interface Failure {
  readonly fault: NodeFault
  /** How long the node wants to be left alone, if it says so. */
  readonly restMs?: number | undefined
  /** It answered the batch as a whole: nodes do that when it has more calls, or is longer, than they take. */
  readonly mayBeTooMany?: boolean
}
const NO_ANSWER: Failure = { fault: 'no-answer' }
const TOO_MANY_REQUESTS = 429
const TOO_LONG = [400, 413]
/** What some nodes answer in place of a batch's answers. */
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
    ordered.push(
      'error' in answer ? { error: rpcErrorSchema.parse(answer.error) } : { result: answer.result },
    )
  }
  return ordered
}

/**
 * Codes by which a node says, with HTTP status 200, that it is asked too much: EIP-1474's "limit exceeded" (-32005),
 * HTTP's own (429), and what large providers take instead: https://eips.ethereum.org/EIPS/eip-1474#error-codes
 */
const LIMIT_CODES = [-32_005, 429, -32_007, -32_012, -32_016]
/** By some of these codes nodes also say that a query spans too many blocks, or what a transaction lacks. */
const AMBIGUOUS = ['eth_getLogs', 'eth_sendRawTransaction']
const UNMISTAKABLE = 429

/** Whether a call was refused only because the node is asked too much. */
export function isRateLimited({ method }: RpcCall, answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('error' in answer)) return false
  const { code } = answer.error
  return AMBIGUOUS.includes(method) ? code === UNMISTAKABLE : LIMIT_CODES.includes(code)
}

/**
 * What `Retry-After` asks for: seconds, or a date (RFC 9110 §10.2.3).
 *
 * @param now Unix time in milliseconds
 * @returns milliseconds, or undefined when it says nothing of use
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
