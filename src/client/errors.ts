import type { ProblemBody, Revert } from '../protocol/api.js'
import { SERVER_ERROR_CODES } from './serverErrorCodes.js'

/** Machine-readable codes of failures on the client's side of the wire. */
export type ClientErrorCode =
  // The wallet.
  | ('no-provider' | 'no-account' | 'contract-wallet' | 'wallet-refused' | 'wallet-busy')
  | ('signature-refused' | 'signature-invalid' | 'wallet-not-deterministic')
  // Trust.
  | ('wrong-chain' | 'unknown-scheme' | 'untrusted-enclave-key' | 'untrusted-escrow' | 'insecure-url')
  | ('unpinned-client' | 'unattested-enclave' | 'untrusted-enclave')
  | ('unannounced-program' | 'revoked-program')
  // The caller's input; `invalid-decimal` is of `parseDecimal`, by `toTradingError`.
  | ('invalid-order' | 'unlisted-symbol' | 'invalid-decimal' | 'invalid-rulebook' | 'invalid-name')
  | ('not-admin' | 'insufficient-usdc' | 'insufficient-shares')
  // Transactions; `insufficient-funds` is of ether for the gas.
  | ('insufficient-funds' | 'transaction-refused' | 'transaction-pending' | 'transaction-replaced')
  // Openings by the platform.
  | ('opening-outstanding' | 'opening-expired' | 'opening-unsupported')
  // The server.
  | ('server-unreachable' | 'server-timeout' | 'unexpected-answer' | 'commit-differs')
  // Portfolio keys.
  | ('portfolio-undecryptable' | 'portfolio-key-missing' | 'notice-undecryptable')
  | ('invalid-key-file' | 'foreign-key-file')
  // The chain.
  | ('chain-reorganized' | 'node-unavailable' | 'node-timeout' | 'node-rate-limited')
  | ('too-much-to-read' | 'node-wrong-chain')
  // Copies of rulebooks.
  | ('invalid-copy' | 'outdated-copy' | 'copy-undecryptable' | 'copy-unconfirmed')
  // Orders that the caller's store keeps.
  | ('order-not-kept' | 'no-kept-order' | 'invalid-kept-order')
  // The code of the library itself.
  | 'code-not-loaded'
  // See NotSubmittedError; and an error that the library does not know, which is the `cause`.
  | ('not-submitted' | 'unexpected')

/**
 * Codes of the server's problems, as docs/errors.md lists them. `server-unavailable`: something before the server answered for it.
 * `unknown`: no problem that this version of the library knows; `problem.code` has the code of a newer server.
 */
export type ServerErrorCode = (typeof SERVER_ERROR_CODES)[number] | 'server-unavailable' | 'unknown'

/** Failures that the same call may not meet again, once the server, the node or the chain has recovered. */
const RETRYABLE = new Set<ClientErrorCode>([
  'server-unreachable',
  'server-timeout',
  'node-unavailable',
  'node-timeout',
  'node-rate-limited',
  'chain-reorganized',
  'code-not-loaded',
])
/** Statuses of a server that is overloaded, starting, or waiting for the enclave or the broker. */
const RETRYABLE_STATUSES = new Set([429, 503, 504])
/** From a proxy before the server; a server that answers so itself says in its problem what failed. */
const BAD_GATEWAY = 502

interface Details extends ErrorOptions {
  readonly code: string
  readonly retryable: boolean
  readonly requestId?: string | null
  readonly docs: string
}

/** Every failure of the library. Its message is for people: it states the remedy and quotes no secret. */
export abstract class TradingError extends Error {
  /** Stable. Kebab-case, except for a contract's errors, which keep their Solidity names. */
  readonly code: string
  /** Whether the same call may succeed later. Repeating such a call never sends a transaction or an order twice. */
  readonly retryable: boolean
  /** The server's id of the request; quote it in a report. Null if the server did not answer. */
  readonly requestId: string | null
  /** The page with meaning and remedy: at the server for its own problems, or in the package. */
  readonly docs: string

  constructor(message: string, { code, retryable, requestId = null, docs, ...options }: Details) {
    super(message, options)
    this.code = code
    this.retryable = retryable
    this.requestId = requestId
    this.docs = docs
  }
}

/** In the package, README.md is this page: docs/client.md. */
const docsOf = (code: string) => `confidential-trading-client/README.md#${code}`

/** A failure on the client's side of the wire. */
export class ClientError extends TradingError {
  override readonly name: string = 'ClientError'
  declare readonly code: ClientErrorCode

  constructor(
    code: ClientErrorCode,
    message: string,
    options?: ErrorOptions & { readonly requestId?: string | null },
  ) {
    super(message, { ...options, code, retryable: RETRYABLE.has(code), docs: docsOf(code) })
  }
}

export function isRetryable(error: unknown): error is TradingError {
  return error instanceof TradingError && error.retryable
}

/** The failure of a call that may have opened an order: the same call could open a second one. */
export function neverRetryable(error: unknown): unknown {
  return isRetryable(error) ? Object.assign(error, { retryable: false }) : error
}

/** A failure after which a transaction may be on its way: no call that fails so may be repeated unseen. */
export function mayBePending(error: unknown): unknown {
  if (!isRetryable(error)) return error
  const message = 'The transaction may have been sent. Look it up before you repeat it.'
  return new ClientError('transaction-pending', message, { cause: error })
}

/**
 * An answer with a status of 400 or more. Branch on `code`. Without problem details it is `server-unavailable` where a proxy
 * may answer for a server that is away (429, 502, 503, 504), else `unknown`.
 */
export class ServerError extends TradingError {
  override readonly name = 'ServerError'
  declare readonly code: ServerErrorCode

  constructor(
    readonly status: number,
    requestId: string | null,
    /** Seconds that the server asks the client to wait; null if it does not say. */
    readonly retryAfter: number | null,
    /** The whole RFC 9457 body with its extension members; null if there was none. */
    readonly problem: ProblemBody | null,
    /** The problem's page; absent without a problem. */
    docs?: string,
  ) {
    const retryable = RETRYABLE_STATUSES.has(status) || (status === BAD_GATEWAY && problem === null)
    super(messageOf(status, problem), {
      code: problem === null ? (retryable ? 'server-unavailable' : 'unknown') : knownCode(problem.code),
      retryable,
      requestId,
      docs: docs ?? docsOf('server-error'),
    })
  }
}

function knownCode(code: string): ServerErrorCode {
  return SERVER_ERROR_CODES.find((known) => known === code) ?? 'unknown'
}

function messageOf(status: number, problem: ProblemBody | null): string {
  if (problem === null) return `The server answered ${status}.`
  const { title, detail, reason } = problem
  return `${title}: ${detail}${reason === undefined ? '' : ` (${String(reason)})`}`
}

/** A call that a contract refused. `code` is the Solidity error's name; `unknown` if none of our contracts declares it. */
export class ContractError extends TradingError {
  override readonly name = 'ContractError'

  constructor(
    /** The method that was called. */
    readonly method: string,
    code: string,
    readonly args: Revert['args'],
    /** Whether others have the call: its transaction was mined and reverted, or the platform sends it. */
    readonly isOut = false,
  ) {
    const named = Object.entries(args).map(([name, value]) => `${name} ${value}`)
    const detail = named.length === 0 ? '' : ` (${named.join(', ')})`
    super(`The contract refused ${method}: ${code}${detail}.`, {
      code,
      retryable: false,
      docs: docsOf('contract-error'),
    })
  }
}
