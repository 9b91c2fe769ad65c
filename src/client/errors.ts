import type { ProblemBody, Revert } from '../protocol/api.js'

/**
 * What went wrong on this side of the wire, as a program reads it.
 *
 * - wallet: `no-provider`, `contract-wallet`, `signature-refused`, `signature-invalid`, `wallet-not-deterministic`
 * - trust: `wrong-chain`, `unknown-scheme`, `untrusted-enclave-key`, `untrusted-escrow`
 * - what the caller asked for: `invalid-order`, `invalid-rulebook`, `invalid-name`, `not-admin`, `insufficient-usdc`
 * - transactions: `transaction-refused`, `transaction-pending`, `transaction-replaced`
 * - server: `server-unreachable`, `server-timeout`, `unexpected-answer`, `commit-differs`
 * - portfolio keys: `portfolio-undecryptable`, `portfolio-key-missing`, `invalid-key-file`, `foreign-key-file`
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
  | 'server-unreachable'
  | 'server-timeout'
  | 'unexpected-answer'
  | 'commit-differs'
  | 'portfolio-undecryptable'
  | 'portfolio-key-missing'
  | 'invalid-key-file'
  | 'foreign-key-file'
  | 'invalid-copy'
  | 'outdated-copy'
  | 'copy-undecryptable'

/** A failure whose message a person can be shown: it says what to do, and quotes no secret. */
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

/** An answer with a status of 400 or more. Branch on `code`; `unknown` is an answer that was not a problem body. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** Stable and kebab-case, as in the API's catalogue of errors. */
  readonly code: string

  constructor(
    readonly status: number,
    /** Quote it when you report the failure. */
    readonly requestId: string | null,
    /** Seconds that the server asks to wait, null when it does not say. */
    readonly retryAfter: number | null,
    /** The whole RFC 9457 body with members of its own kind, null when there was none. */
    readonly problem: ProblemBody | null,
  ) {
    super(problem === null ? `the server answered ${status}` : `${problem.title}: ${problem.detail}`)
    this.code = problem?.code ?? 'unknown'
  }
}

/** A call that one of the contracts refuses, by the contract's own error name and arguments. */
export class ContractError extends Error {
  override readonly name = 'ContractError'

  constructor(
    /** The method that was called. */
    readonly method: string,
    /** Name of the Solidity error, `unknown` when none of our contracts has it. */
    readonly code: string,
    readonly args: Revert['args'],
  ) {
    super(`${method} reverts with ${code}`)
  }
}
