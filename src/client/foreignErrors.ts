// Errors of ethers, of wallets (EIP-1193) and of fetch, as failures of this library: none of them leaves it raw.
import { isError } from 'ethers'
import * as z from 'zod'
import { isChainFailure } from '../chain/errors.js'
import { ProtocolError } from '../protocol/errors.js'
import { ClientError, type ClientErrorCode, TradingError } from './errors.js'

const codeSchema = z.object({ code: z.union([z.int(), z.string()]) })
const objectSchema = z.custom<object>((value) => typeof value === 'object' && value !== null)
/** Where wallets, and ethers, keep the error that is the cause. */
const wrapperSchema = z.union([
  z.object({ data: z.object({ originalError: objectSchema }) }).transform(({ data }) => data.originalError),
  z.object({ info: z.object({ error: objectSchema }) }).transform(({ info }) => info.error),
  z.object({ error: objectSchema }).transform(({ error }) => error),
])
const MAX_WRAPPERS = 5

/** The error, and those that it wraps, outermost first. */
function unwrapped(error: unknown): unknown[] {
  const found = [error]
  while (found.length <= MAX_WRAPPERS) {
    const inside = wrapperSchema.safeParse(found.at(-1))
    if (!inside.success) break
    found.push(inside.data)
  }
  return found
}

/** EIP-1193: the user rejected the request; the account is not authorized; the wallet has no connection to a node. */
const [USER_REJECTED, UNAUTHORIZED] = [4001, 4100]
const DISCONNECTED = new Set<unknown>([4900, 4901])
/** EIP-1474: a request is pending already; the node limits requests. */
const [REQUEST_PENDING, LIMIT_EXCEEDED] = [-32_002, -32_005]
/** ethers' codes, and Node's, for a node that is unreachable, silent, or answers with 500 or above. */
const NODE_FAILS = new Set<unknown>([
  ...['NETWORK_ERROR', 'TIMEOUT', 'SERVER_ERROR'],
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'],
])

/**
 * The code of a wallet's or node's error, taken from the innermost one that has any.
 * @example const isRejected = foreignCode({ code: 4001 }) === 4001
 */
export function foreignCode(error: unknown): number | string | undefined {
  const codes = unwrapped(error).flatMap((each) => codeSchema.safeParse(each).data ?? [])
  return codes.at(-1)?.code
}

/**
 * The failure that any error means. Errors of this library stay as they are.
 * @param refused the code for a request that the user rejected in the wallet
 * @example const { code, retryable } = toTradingError(new TypeError('fetch failed')) // 'node-unavailable', true
 */
export function toTradingError(error: unknown, refused?: ClientErrorCode): TradingError {
  if (error instanceof TradingError) return error
  const known = walletFailure(error, refused)
  if (known !== null) return known
  const code = error instanceof ProtocolError ? 'unexpected-answer' : 'unexpected'
  return new ClientError(code, shortMessage(error), { cause: error })
}

/** The failure of wallet or node that the error names; null for any other error, such as a revert. */
export function walletFailure(
  error: unknown,
  refused: ClientErrorCode = 'wallet-refused',
): ClientError | null {
  const failure = (code: ClientErrorCode, message: string) => new ClientError(code, message, { cause: error })
  const code = foreignCode(error)
  if (isError(error, 'ACTION_REJECTED') || code === USER_REJECTED || code === 'ACTION_REJECTED') {
    return failure(refused, REFUSED[refused] ?? 'The request was rejected in the wallet.')
  }
  if (code === REQUEST_PENDING) return failure('wallet-busy', 'The wallet is waiting for an answer. Open it.')
  if (code === UNAUTHORIZED) return failure('no-account', 'The wallet reveals no account to this page.')
  if (isError(error, 'INSUFFICIENT_FUNDS')) {
    return failure('insufficient-funds', 'The wallet does not have enough ether for the gas.')
  }
  const isNode = NODE_FAILS.has(code) || code === LIMIT_EXCEEDED || DISCONNECTED.has(code)
  if (isNode || isFetchFailure(error) || isChainFailure(error)) {
    return failure('node-unavailable', 'The node of the chain does not answer. Try again later.')
  }
  return null
}

/** fetch fails with a TypeError. */
function isFetchFailure(error: unknown): boolean {
  return unwrapped(error).some((each) => each instanceof TypeError)
}

const REFUSED: Partial<Record<ClientErrorCode, string>> = {
  'signature-refused': 'The signature was rejected in the wallet.',
  'transaction-refused': 'The transaction was rejected in the wallet.',
  'no-account': 'The wallet reveals no account: the connection was rejected.',
}

/** An ethers error's message contains the whole transaction; its short message does not. */
function shortMessage(error: unknown): string {
  if (!(error instanceof Error)) return 'An unexpected error occurred.'
  return 'shortMessage' in error ? String(error.shortMessage) : error.message
}
