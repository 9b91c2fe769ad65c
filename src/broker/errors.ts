/**
 * Kinds of failed calls to the broker.
 *
 * - `ambiguous`: a request that changes something got no definite answer (time-out, connection lost, 5xx,
 *   an answer that cannot be read): the broker may have carried it out. Ask again before concluding anything.
 * - `unavailable`: nothing can have changed: the connection was never made, or a read got no usable answer.
 * - `rate-limited`: refused before it was handled; try again at `resetAt`.
 * - `unauthorized`: the keys were refused (401, or 403 without a code of its own).
 * - `not-found`: no such order or asset.
 * - `rejected`: any other definite refusal (4xx): nothing was changed.
 */
export type BrokerErrorKind =
  | 'ambiguous'
  | 'unavailable'
  | 'rate-limited'
  | 'unauthorized'
  | 'not-found'
  | 'rejected'

/** The facts of a failure that are safe to keep: never a header, a key, a body sent, or a filled-in path. */
interface BrokerErrorDetails {
  /** Method and route template, such as `POST /v2/orders`. */
  readonly route: string
  /** The HTTP status, when there was an answer. */
  readonly status?: number | undefined
  /** Alpaca's numeric `code`; absent on a 401 and on answers from in front of the API. */
  readonly code?: number | undefined
  /** Why there is no usable answer: a system error code such as `ECONNRESET`, `timeout`, `unreadable`, … */
  readonly reason?: string | undefined
  /** When the rate limit resets, if the broker said so. */
  readonly resetAt?: Date | undefined
}

/** A failed call to the broker. `message` names the route, the kind and the status, and quotes nothing. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError'
  readonly route: string
  readonly status: number | undefined
  readonly code: number | undefined
  readonly reason: string | undefined
  readonly resetAt: Date | undefined

  constructor(
    readonly kind: BrokerErrorKind,
    details: BrokerErrorDetails,
  ) {
    const facts = [details.status, details.code, details.reason].filter((fact) => fact !== undefined)
    super(`broker: ${details.route}: ${kind}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`)
    this.route = details.route
    this.status = details.status
    this.code = details.code
    this.reason = details.reason
    this.resetAt = details.resetAt
  }
}
