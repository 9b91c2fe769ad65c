import type { RpcCall } from './rpcTransport.js'

/** Characters of parameters in one request: nodes refuse bodies of some megabytes. */
export const REQUEST_LIMIT = 1_048_576
/** Public nodes take no more in one request. */
const MAX_CALLS = 100
const LEAST = Math.floor(REQUEST_LIMIT / MAX_CALLS)

/** A call's part of {@link REQUEST_LIMIT}: a hundred fill a request, however short they are. */
export function sizeOfCall({ params }: RpcCall): number {
  return Math.max(JSON.stringify(params).length, LEAST)
}
