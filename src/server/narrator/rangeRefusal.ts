import type { RpcAnswer } from '../../chain/rpcTransport.js'

/** A node does not answer a query for events over that many blocks, or with that many events in them. */
export class RangeRefusedError extends Error {
  override readonly name = 'RangeRefusedError'
}

/**
 * Words of nodes and providers that refuse a range or the size of its answer. Their codes are no help: -32005 also says
 * that a day's quota is used up, -32602 that a parameter is wrong, and each provider has some of its own.
 */
const WORDS = [
  /\branges?\b/i,
  /\b(?:more than|at most) [\d,]+ (?:results|logs|blocks)\b/i,
  /\btoo many (?:results|logs|blocks|events)\b/i,
  /\b(?:response|result set|query|content) (?:is |size )?(?:too (?:large|big)|exceed|timeout|timed out)/i,
  /\bmax(?:imum)? (?:results|logs|response size)\b/i,
]
/** Of ranges too, but not of their length: the node is behind, or does not have so old a block. */
const OTHER_WORDS = /\bbeyond\b|\bhead block\b|\barchive\b|\binvalid block range\b/i

/**
 * Whether an answer to `eth_getLogs` is such a refusal. Decides only how soon a shorter range is asked for: whatever the
 * words, nothing is told of a range that was not answered whole.
 */
export function isRangeRefusal(answer: RpcAnswer | undefined): boolean {
  if (answer === undefined || !('error' in answer)) return false
  const { message, data } = answer.error
  const text = `${message} ${JSON.stringify(data) ?? ''}`
  return WORDS.some((words) => words.test(text)) && !OTHER_WORDS.test(text)
}
