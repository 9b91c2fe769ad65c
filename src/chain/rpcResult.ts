import type { z } from 'zod'
import { ChainAnswerError } from './errors.js'
import type { RpcAnswer } from './rpcRequest.js'

/** The result of one call of a batch, parsed. @throws ChainAnswerError when the node refused the call, or answered otherwise */
export function resultOf<T>(answer: RpcAnswer | undefined, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(answer && 'result' in answer ? answer.result : undefined)
  if (parsed.success) return parsed.data
  throw new ChainAnswerError('a node refused a call or answered it with something else')
}
