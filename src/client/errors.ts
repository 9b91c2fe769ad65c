import type { ProblemBody, Revert } from '../protocol/api.js'

/**
 * Machine-readable codes of failures on the client's side of the wire.
 * - wallet: `no-provider`, `contract-wallet`, `signature-refused`, `signature-invalid`, `wallet-not-deterministic`
 * - trust: `wrong-chain`, `unknown-scheme`, `untrusted-enclave-key`, `untrusted-escrow`
 * - the caller's input: `invalid-order`, `invalid-rulebook`, `invalid-name`, `not-admin`, `insufficient-usdc`
 * - transactions: `transaction-refused`, `transaction-pending`, `transaction-replaced`
 * - openings by the platform: `opening-outstanding`, `opening-expired`, `opening-unsupported`
 * - server: `server-unreachable`, `server-timeout`, `unexpected-answer`, `commit-differs`
 * - portfolio keys: `portfolio-undecryptable`, `portfolio-key-missing`, `invalid-key-file`, `foreign-key-file`
 * - history: `chain-reorganized`, `node-unavailable`
 * - copies of rulebooks: `invalid-copy`, `outdated-copy`, `copy-undecryptable`
 */
export type ClientErrorCode =
  | 'no-provider'
  | 'contract-wallet'
  | 'signature-refused'
  | 'signature-invalid'
  | 'wallet-not-deterministic'
  | 'wrong-chain'
  | 'unknown-scheme'
  | 'untrusted-enclave-key'
  | 'untrusted-escrow'
  | 'invalid-order'
  | 'invalid-rulebook'
  | 'invalid-name'
  | 'not-admin'
  | 'insufficient-usdc'
  | 'transaction-refused'
  | 'transaction-pending'
  | 'transaction-replaced'
  | 'opening-outstanding'
  | 'opening-expired'
  | 'opening-unsupported'
  | 'server-unreachable'
  | 'server-timeout'
  | 'unexpected-answer'
  | 'commit-differs'
  | 'portfolio-undecryptable'
  | 'portfolio-key-missing'
  | 'invalid-key-file'
  | 'foreign-key-file'
  | 'chain-reorganized'
  | 'node-unavailable'
  | 'invalid-copy'
  | 'outdated-copy'
  | 'copy-undecryptable'

/** A failure with a message for people: it states the remedy and quotes no secret. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  constructor(
    readonly code: ClientErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** An answer with a status of 400 or more. Branch on `code`; `unknown` means that the body was not problem details. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** Stable and kebab-case, from the API's error catalogue. */
  readonly code: string

  constructor(
    readonly status: number,
    /** Quote it in a report of the failure. */
    readonly requestId: string | null,
    /** Seconds that the server asks the client to wait; null if it does not say. */
    readonly retryAfter: number | null,
    /** The whole RFC 9457 body with its extension members; null if there was none. */
    readonly problem: ProblemBody | null,
  ) {
    super(problem === null ? `the server answered ${status}` : `${problem.title}: ${problem.detail}`)
    this.code = problem?.code ?? 'unknown'
  }
}

/** A call that a contract refused, with the contract's own error name and arguments. */
export class ContractError extends Error {
  override readonly name = 'ContractError'

  constructor(
    /** The method that was called. */
    readonly method: string,
    /** The Solidity error's name; `unknown` if none of our contracts declares it. */
    readonly code: string,
    readonly args: Revert['args'],
  ) {
    super(`${method} reverts with ${code}`)
  }
}
