// Errors of ethers, of wallets (EIP-1193) and of fetch, as failures of this library: none of them leaves it raw.
import isNetworkError from 'is-network-error'
import * as z from 'zod/mini'
import {
  ChainAnswerError,
  ChainUnavailableError,
  HistoriesDifferError,
  RangeRefusedError,
} from '../chain/errors.js'
import { ProtocolError } from '../protocol/errors.js'
import { jsonOf } from '../protocol/json.js'
import { ClientError, type ClientErrorCode, TradingError } from './errors.js'

const codeSchema = z.object({ code: z.union([z.int(), z.string()]) })
const objectSchema = z.custom<object>((value) => typeof value === 'object' && value !== null)
/** A node's JSON-RPC error in an answer with another status than 200: so some refuse a range of blocks. */
const bodySchema = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text) => jsonOf(text)),
  ),
  z.object({ error: objectSchema }),
)
/** Where wallets, ethers and viem keep the error that is the cause. */
const wrapperSchema = z.union([
  z.pipe(
    z.object({ info: z.object({ responseBody: bodySchema }) }),
    z.transform(({ info }) => info.responseBody.error),
  ),
  z.pipe(
    z.object({ info: z.object({ responseStatus: z.string() }) }),
    z.transform(({ info }) => ({ code: Number.parseInt(info.responseStatus, 10) })),
  ),
  z.pipe(
    z.object({ data: z.object({ originalError: objectSchema }) }),
    z.transform(({ data }) => data.originalError),
  ),
  z.pipe(
    z.object({ info: z.object({ error: objectSchema }) }),
    z.transform(({ info }) => info.error),
  ),
  z.pipe(
    z.object({ error: objectSchema }),
    z.transform(({ error }) => error),
  ),
  z.pipe(
    z.object({ cause: objectSchema }),
    z.transform(({ cause }) => cause),
  ),
])
const MAX_WRAPPERS = 5

/** The error, and those that it wraps, outermost first. */
export function unwrapped(error: unknown): unknown[] {
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
/** ethers' codes, and Node's, for a node that is unreachable. */
const AWAY = new Set<unknown>([
  ...['NETWORK_ERROR', 'SERVER_ERROR', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN'],
])
/** Those of a node that is too slow, with the statuses of a gateway before it (524: Cloudflare's). */
const SLOW = new Set<unknown>(['TIMEOUT', 'ETIMEDOUT', 408, 504, 524])
const TOO_MANY_REQUESTS = 429

/** Whether a code is the status of a node's HTTP answer. */
export function isHttpStatus(code: unknown): boolean {
  return typeof code === 'number' && code >= 400 && code < 600
}

function nodeCode(code: unknown): NodeFailure | null {
  if (code === LIMIT_EXCEEDED || code === TOO_MANY_REQUESTS) return 'node-rate-limited'
  if (SLOW.has(code)) return 'node-timeout'
  return AWAY.has(code) || DISCONNECTED.has(code) || isHttpStatus(code) ? 'node-unavailable' : null
}

/** The failure of the node that an error names; null for any other. */
function nodeFailure(error: unknown, code: unknown): NodeFailure | null {
  if (error instanceof RangeRefusedError) return 'too-much-to-read'
  if (error instanceof HistoriesDifferError) return 'chain-reorganized'
  if (error instanceof ChainAnswerError) return 'unexpected-answer'
  if (error instanceof ChainUnavailableError)
    return error.isRateLimited ? 'node-rate-limited' : 'node-unavailable'
  return nodeCode(code) ?? (isFetchFailure(error) ? 'node-unavailable' : null)
}

const NODE_WORDS = {
  'too-much-to-read': 'The node does not give the events of a single block. Choose another node.',
  'chain-reorganized': 'The chain was reorganized while it was read. Read it again.',
  'unexpected-answer': 'The node did not answer as documented. Read it again, or choose another node.',
  'node-rate-limited': 'The node limits its requests. Try again later.',
  'node-timeout': 'The node did not answer in time.',
  'node-unavailable': 'The node of the chain does not answer. Try again later.',
} as const
type NodeFailure = keyof typeof NODE_WORDS

/**
 * The code of a wallet's or node's error, taken from the innermost one that has any.
 * @example const isRejected = foreignCode({ code: 4001 }) === 4001
 */
export function foreignCode(error: unknown): number | string | undefined {
  return codesOf(error).at(-1)
}

/** Outermost first. */
function codesOf(error: unknown): (number | string)[] {
  return unwrapped(error).flatMap((each) => codeSchema.safeParse(each).data?.code ?? [])
}

/** The node has run a call that reverts. Only `contract.ts` sees it, and makes a ContractError of it. */
export class CallReverted extends Error {
  override readonly name = 'CallReverted'

  /** @param data the contract's error; `0x` where the node omits it */
  constructor(
    readonly data: string,
    options: ErrorOptions,
  ) {
    super('the call reverts', options)
  }
}

const revertDataSchema = z.string().check(z.regex(/^0x(?:[0-9a-fA-F]{2})*$/))
/** Wallets put the data of a revert into the error's, at one of two depths. */
const revertSchema = z.union([
  z.pipe(
    z.object({ data: revertDataSchema }),
    z.transform(({ data }) => data),
  ),
  z.pipe(
    z.object({ data: z.object({ data: revertDataSchema }) }),
    z.transform(({ data }) => data.data),
  ),
])

/**
 * The failure of a contract's call. Nodes share no code for a revert, so every error of the node itself without another meaning
 * counts as one.
 */
export function callFailure(error: unknown): TradingError | CallReverted {
  const known = walletFailure(error)
  if (known !== null) return known
  const [data] = unwrapped(error).flatMap((each) => revertSchema.safeParse(each).data ?? [])
  const isFromNode = codesOf(error).some((code) => typeof code === 'number' || code === 'CALL_EXCEPTION')
  return isFromNode || data !== undefined
    ? new CallReverted(data ?? '0x', { cause: error })
    : toTradingError(error)
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
  return new ClientError(ownCode(error), shortMessage(error), { cause: error })
}

/** A method's failure for what it was given: ethers' coder, a schema and the wire format refuse it. Errors of callbacks stay as they are. */
export function methodFailure(error: unknown): unknown {
  const { name } = error instanceof Error ? error : { name: '' }
  // Not by zod's class: it would bring all of zod along.
  const isOurs = error instanceof ProtocolError || name === '$ZodError' || name === 'ZodError'
  return isOurs || codesOf(error).includes('INVALID_ARGUMENT') ? toTradingError(error) : error
}

function ownCode(error: unknown): ClientErrorCode {
  if (!(error instanceof ProtocolError)) return 'unexpected'
  const { code } = error
  return code === 'invalid-decimal' || code === 'invalid-name' ? code : 'unexpected-answer'
}

/** The failure of wallet or node that the error names; null for any other error, such as a revert. */
function walletFailure(error: unknown, refused: ClientErrorCode = 'wallet-refused'): ClientError | null {
  const failure = (code: ClientErrorCode, message: string) => new ClientError(code, message, { cause: error })
  const codes = codesOf(error)
  const code = codes.at(-1)
  if (code === USER_REJECTED || codes.includes('ACTION_REJECTED')) {
    return failure(refused, REFUSED[refused] ?? 'The request was rejected in the wallet.')
  }
  if (code === REQUEST_PENDING) return failure('wallet-busy', 'The wallet is waiting for an answer. Open it.')
  if (code === UNAUTHORIZED) return failure('no-account', 'The wallet reveals no account to this page.')
  if (codes.includes('INSUFFICIENT_FUNDS')) return failure('insufficient-funds', INSUFFICIENT_FUNDS)
  const ofNode = nodeFailure(error, code)
  return ofNode === null ? null : failure(ofNode, NODE_WORDS[ofNode])
}

export const INSUFFICIENT_FUNDS = 'The wallet does not have enough ether for the gas.'

/** A browser's fetch fails with a TypeError, as a mistake in the caller's code does; only its message tells them apart. */
function isFetchFailure(error: unknown): boolean {
  return unwrapped(error).some((each) => isNetworkError(each))
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
