/** A code's explanation for its reader. In meaning, cause and remedy, backticks enclose code. */
export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  readonly meaning: string
  /** The typical one. */
  readonly cause: string
  /** What the reader can do; also the default `detail` of an answer. */
  readonly remedy: string
  /** Sent as `Retry-After`, in seconds, when the thrower names no better moment. */
  readonly retryAfterSeconds?: number
}
