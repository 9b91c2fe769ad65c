/** No node gave an answer: retryable. The message names no URL, because a URL may hold a key. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'

  constructor(
    nodes: number,
    /** Whether they refused because of their limit of requests. */
    readonly isRateLimited = false,
  ) {
    super(`none of the ${nodes} RPC nodes answered`)
  }
}

/** A node refused a question, or answered with something that its interface does not promise. */
export class ChainAnswerError extends Error {
  override readonly name = 'ChainAnswerError'
}

/** A node refuses a query over so many blocks, or with so many events in them. */
export class RangeRefusedError extends ChainAnswerError {}

/** A node's answers are of two histories: it changed its branch between them. */
export class HistoriesDifferError extends ChainAnswerError {
  constructor() {
    super('the events are of two histories')
  }
}

/** Whether the nodes failed to answer a question. */
export function isChainFailure(error: unknown): error is ChainUnavailableError | ChainAnswerError {
  return error instanceof ChainUnavailableError || error instanceof ChainAnswerError
}
