// JSON-RPC 2.0 over HTTP: https://www.jsonrpc.org/specification
import { z } from 'zod'
import { ChainUnavailableError } from './errors.js'

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

export interface RpcTransportOptions {
  /** Nodes of one chain, in order of preference. */
  urls: readonly string[]
  /** Time that one node gets for one request. */
  timeoutMs: number
}

/** Sends batches of calls, each as one HTTP request. */
export interface RpcTransport {
  /**
   * Answers in the order of the calls. The next node is asked when one fails as a whole (no answer in time, HTTP
   * error, not JSON-RPC); an error for a single call is an answer.
   * @throws ChainUnavailableError when no node answered
   */
  send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]>
}

export function createRpcTransport({ urls, timeoutMs }: RpcTransportOptions): RpcTransport {
  // The node that answered last is asked first, so that a dead one costs its time-out once.
  let preferred = 0
  return {
    async send(calls, signal) {
      if (calls.length === 0) return []
      const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
      for (let step = 0; step < urls.length; step++) {
        const index = (preferred + step) % urls.length
        const answers = await request(urls[index] ?? '', body, calls.length, timeoutMs, signal)
        if (answers !== null) {
          preferred = index
          return answers
        }
        signal?.throwIfAborted()
      }
      throw new ChainUnavailableError(urls.length)
    },
  }
}

async function request(
  url: string,
  body: string,
  count: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<RpcAnswer[] | null> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    if (!response.ok) {
      await response.body?.cancel()
      return null
    }
    return inOrder(batchSchema.parse(await response.json()), count)
  } catch {
    return null
  }
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
