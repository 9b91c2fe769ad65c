import type { RpcAnswer, RpcCall } from './rpcRequest.js'

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
