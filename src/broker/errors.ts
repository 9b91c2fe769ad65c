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

/** A failed call to the broker. `message` names the route, the kind and the status, and quotes nothing. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError'
  /** Method and route template, such as `POST /v2/orders`. */
  readonly route: string
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** Alpaca's numeric `code`; absent on a 401 and on answers from in front of the API. */
  readonly code: number | undefined
  /** Why there is no usable answer: a system error code such as `ECONNRESET`, `timeout`, `unreadable`, … */
  readonly reason: string | undefined
  /** Whether the broker refused an order because an opposite one of its symbol is open. */
  readonly isOpposed: boolean
  /** When the rate limit resets, if the broker said so. */
  readonly resetAt: Date | undefined

  /** @param facts that are safe to keep: never a header, a key, a body sent, or a filled-in path */
  constructor(
    readonly kind: BrokerErrorKind,
    facts: Pick<BrokerError, 'route'> &
      Partial<Pick<BrokerError, 'status' | 'code' | 'reason' | 'resetAt' | 'isOpposed'>>,
  ) {
    const { route, status, code, reason, resetAt, isOpposed = false } = facts
    const shown = [status, code, reason].filter((fact) => fact !== undefined)
    super(`broker: ${route}: ${kind}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`)
    this.route = route
    this.status = status
    this.code = code
    this.reason = reason
    this.isOpposed = isOpposed
    this.resetAt = resetAt
  }
}
