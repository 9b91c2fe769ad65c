/** What an answer says of a code. */
export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  /** What a caller does about it; also the default `detail` of an answer. Backticks enclose code. */
  readonly remedy: string
  /** Sent as `Retry-After`, in seconds, when the thrower names no better moment. */
  readonly retryAfterSeconds?: number
}

/**
 * The one registry of error codes. A client branches on `code`, so a code is never renamed or reused. The page at /errors and
 * docs/errors.md are made from it, and from what scripts/openapi/explanations.ts says of each code.
 */
export const PROBLEMS = {
  // Of status 4xx: the caller has to change the request, or to wait.
  'malformed-request': {
    status: 400,
    title: 'Malformed HTTP request',
    remedy: 'Send a well-formed HTTP/1.1 request.',
  },
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    remedy: 'Send one JSON value in UTF-8, without repeated member names and without deep nesting.',
  },
  'invalid-body': {
    status: 400,
    title: 'Invalid body',
    remedy: 'Correct the members listed in "errors" and send the request again.',
  },
  'invalid-parameter': {
    status: 400,
    title: 'Invalid path parameter',
    remedy: 'Correct the parameters listed in "errors" and send the request again.',
  },
  'invalid-envelope': {
    status: 400,
    title: 'Invalid sealed envelope',
    remedy: 'Seal the content again with the key of GET /enclave-key and send the new envelope.',
  },
  'relay-unauthorized': {
    status: 401,
    title: 'Relay token missing or wrong',
    remedy: 'Send "Authorization: Bearer <RELAY_AUTH_TOKEN>" with the token the server is configured with.',
  },
  'run-unauthorized': {
    status: 401,
    title: 'Run message not signed',
    remedy: 'Sign the exact body with the shared secret, for this run, and send it at once.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Origin not allowed',
    remedy: 'Call the API from the one origin that the server is configured with (FRONTEND_ORIGIN).',
  },
  'not-order-account': {
    status: 403,
    title: "Not signed by the order's account",
    remedy: 'Sign the hash of the envelope by the wallet that opened the escrow, for this chain and escrow.',
  },
  'not-found': {
    status: 404,
    title: 'No such route',
    remedy: 'Check the path against the list of routes.',
  },
  'order-not-found': {
    status: 404,
    title: 'Order not found',
    remedy: 'Check the orderId. An order is known once its escrow is on the chain or its envelope is posted.',
  },
  'institution-not-found': {
    status: 404,
    title: 'Institution not found',
    remedy: 'Check the orgId. An institution is known once it is registered on the chain.',
  },
  'receipt-not-found': {
    status: 404,
    title: 'Receipt not found',
    remedy: 'Check the digest, or relay the authorization again: relaying is idempotent.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    remedy: 'Use one of the methods in the Allow header.',
  },
  'order-ended': {
    status: 409,
    title: 'Order has ended',
    remedy: 'There is nothing left to cancel: read the state of the order.',
  },
  'opening-under-way': {
    status: 409,
    title: 'Another opening of the order under way',
    remedy: "Wait until the order's escrow is open, or until the first opening has expired.",
  },
  'order-under-way': {
    status: 409,
    title: 'Another run of the order under way',
    remedy: 'Wait until that run has ended, 30 s after its stopAt at the latest, and offer a new one.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long to arrive',
    remedy: 'Send headers and body without pauses.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    remedy: 'Send a body below the limit.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    remedy: 'Send the body as "Content-Type: application/json" in UTF-8, without a Content-Encoding.',
  },
  'run-too-late': {
    status: 422,
    title: 'Job past its time',
    remedy: 'Offer a new run; compare the clocks when this keeps happening.',
  },
  'policy-rejected': {
    status: 422,
    title: 'Rulebook rejected',
    remedy: 'The member "reason" has the enclave\'s code: correct the rulebook, sign and seal it again.',
  },
  'resolution-rejected': {
    status: 422,
    title: 'Resolution rejected',
    remedy: 'Look at the order again, and sign what it needs now.',
  },
  'invalid-signature': {
    status: 422,
    title: 'Authorization not signed by the enclave',
    remedy: "Sign the authorization with the enclave's signing key for this chain and contract.",
  },
  'opening-not-sponsored': {
    status: 422,
    title: 'Opening not paid for by the platform',
    remedy: "Open the escrow with the wallet's own gas, and post the order without its opening.",
  },
  'invalid-opening': {
    status: 422,
    title: 'Opening not signed by its account',
    remedy: 'Sign the opening of this very envelope, or open the escrow by a transaction.',
  },
  'would-revert': {
    status: 422,
    title: 'Transaction would revert',
    remedy: 'Read "revert", compute authorization or opening from the current state, and sign it again.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait for the seconds in Retry-After.',
  },
  'too-many-at-once': {
    status: 429,
    title: 'Too many requests at once',
    remedy: 'Nothing was accepted. Wait for earlier requests to end, or for the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'too-many-runs': {
    status: 429,
    title: 'Too many runs',
    remedy: 'Offer the job again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'too-many-waiting': {
    status: 429,
    title: 'Too many envelopes of this client without an escrow',
    remedy: 'Nothing was accepted. Send the envelope once the transaction that opens its escrow is mined.',
    retryAfterSeconds: 30,
  },
  'headers-too-large': {
    status: 431,
    title: 'Header fields too large',
    remedy: 'Send fewer or shorter header fields.',
  },
  'relay-quota-exhausted': {
    status: 429,
    title: 'Quota used up',
    remedy:
      'Send it again after the seconds in Retry-After; "quota" says which quota it is. An escrow can be opened with the wallet\'s own gas at once.',
    retryAfterSeconds: 3_600,
  },

  // Of status 5xx: the server, or what it depends on, failed or has too much to do.
  'internal-error': {
    status: 500,
    title: 'Internal error',
    remedy: 'Try again later; quote the requestId when you report it.',
  },
  'enclave-failed': {
    status: 502,
    title: 'Enclave run failed',
    remedy: 'Send the same envelope again; quote the requestId when it keeps failing.',
    retryAfterSeconds: 5,
  },
  'chain-unavailable': {
    status: 503,
    title: 'Chain unavailable',
    remedy: 'Nothing stored is lost. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'market-unavailable': {
    status: 503,
    title: 'Market data unavailable',
    remedy: 'Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'storage-unavailable': {
    status: 503,
    title: 'Storage unavailable',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 10,
  },
  'relayer-underfunded': {
    status: 503,
    title: 'Relayer account underfunded',
    remedy: "The operator funds the relayer's address (GET /health); then send the authorization again.",
    retryAfterSeconds: 60,
  },
  'platform-paused': {
    status: 503,
    title: 'Platform paused',
    remedy: 'Send the same envelope again after the seconds in Retry-After.',
    retryAfterSeconds: 3_600,
  },
  'relay-budget-exhausted': {
    status: 503,
    title: "Relay's gas for today used up",
    remedy: 'Send the authorization again after the seconds in Retry-After, or have RELAY_DAILY_GAS raised.',
    retryAfterSeconds: 3_600,
  },
  'relay-overloaded': {
    status: 503,
    title: 'Relay overloaded',
    remedy: 'Send the authorization again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'enclave-busy': {
    status: 503,
    title: 'Enclave busy',
    remedy: 'Send the same envelope again after the seconds in Retry-After.',
    retryAfterSeconds: 10,
  },
  'intake-full': {
    status: 503,
    title: 'Too many envelopes without an escrow',
    remedy: 'Nothing was accepted. Send the envelope once the transaction that opens its escrow is mined.',
    retryAfterSeconds: 30,
  },
  overloaded: {
    status: 503,
    title: 'Server overloaded',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'shutting-down': {
    status: 503,
    title: 'Server shutting down',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'enclave-timeout': {
    status: 504,
    title: 'Enclave run timed out',
    remedy: 'Read the version first: the run may have been accepted late. Then send the envelope again.',
    retryAfterSeconds: 10,
  },
} as const satisfies Record<string, ProblemDefinition>

/** Stable, kebab-case: programs branch on it. */
export type ProblemCode = keyof typeof PROBLEMS

/** Every code, in the order of the registry. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS).filter(isProblemCode)

function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text)
}
