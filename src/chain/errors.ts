/** No node gave an answer: retryable. The message names no URL, as those may hold keys. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'

  constructor(nodes: number) {
    super(`none of the ${nodes} RPC nodes answered`)
  }
}

/** A node answered with something else than its interface promises. */
export class ChainAnswerError extends Error {
  override readonly name = 'ChainAnswerError'
}
