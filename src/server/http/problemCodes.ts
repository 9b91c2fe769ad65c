/** A code's status, title and remedy. */
export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  /** The caller's remedy; also the default `detail` of an answer. Backticks enclose code. */
  readonly remedy: string
  /** Sent as `Retry-After`, in seconds, when the thrower names no better moment. */
  readonly retryAfterSeconds?: number
}

function problem(
  status: number,
  title: string,
  remedy: string,
  retryAfterSeconds?: number,
): ProblemDefinition {
  return { status, title, remedy, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}

/** Remedies of several codes. */
const LATER = 'Try again after the seconds in Retry-After.'
const SAME_ENVELOPE = 'Send the same envelope again after the seconds in Retry-After.'
const ESCROW_FIRST =
  'Nothing was accepted. Send the envelope once the transaction that opens its escrow is mined.'

/**
 * The one registry of error codes. A client branches on `code`, so a code is never renamed or reused. The page at /errors and
 * docs/errors.md are made from it, and from what scripts/openapi/explanations.ts says of each code.
 */
export const PROBLEMS = {
  // Status 4xx: the caller has to change the request, or to wait.
  'malformed-request': problem(400, 'Malformed HTTP request', 'Send a well-formed HTTP/1.1 request.'),
  'malformed-json': problem(
    400,
    'Malformed JSON',
    'Send one JSON value in UTF-8, without repeated member names and without deep nesting.',
  ),
  'invalid-body': problem(
    400,
    'Invalid body',
    'Correct the members listed in "errors" and send the request again.',
  ),
  'invalid-parameter': problem(
    400,
    'Invalid path parameter',
    'Correct the parameters listed in "errors" and send the request again.',
  ),
  'invalid-envelope': problem(
    400,
    'Invalid sealed envelope',
    'Seal the content again with the key of GET /enclave-key and send the new envelope.',
  ),
  'relay-unauthorized': problem(
    401,
    'Relay token missing or wrong',
    'Send "Authorization: Bearer <RELAY_AUTH_TOKEN>" with the token the server is configured with.',
  ),
  'run-unauthorized': problem(
    401,
    'Run message not signed',
    'Sign the exact body with the shared secret, for this run, and send it at once.',
  ),
  'origin-not-allowed': problem(
    403,
    'Origin not allowed',
    'Call the API from the one origin that the server is configured with (FRONTEND_ORIGIN).',
  ),
  'not-order-account': problem(
    403,
    "Not signed by the order's account",
    'Sign the hash of the envelope by the wallet that opened the escrow, for this chain and escrow.',
  ),
  'not-found': problem(404, 'No such route', 'Check the path against the list of routes.'),
  'order-not-found': problem(
    404,
    'Order not found',
    'Check the orderId. An order is known once its escrow is on the chain or its envelope is posted.',
  ),
  'institution-not-found': problem(
    404,
    'Institution not found',
    'Check the orgId. An institution is known once it is registered on the chain.',
  ),
  'unattested-enclave': problem(
    404,
    'Enclave gives no evidence',
    'Its keys are from files: pin them instead.',
  ),
  'receipt-not-found': problem(
    404,
    'Receipt not found',
    'Check the digest, or relay the authorization again: relaying is idempotent.',
  ),
  'method-not-allowed': problem(405, 'Method not allowed', 'Use one of the methods in the Allow header.'),
  'order-ended': problem(409, 'Order has ended', 'The order has ended already: read its state.'),
  'opening-under-way': problem(
    409,
    'Another opening of the order under way',
    "Wait until the order's escrow is open, or until the first opening has expired.",
  ),
  'order-under-way': problem(
    409,
    'Another run of the order under way',
    'Wait until that run has ended, 30 s after its stopAt at the latest, and offer a new one.',
  ),
  'request-timeout': problem(408, 'Request took too long to arrive', 'Send headers and body without pauses.'),
  'body-too-large': problem(413, 'Body too large', 'Send a body below the limit.'),
  'unsupported-media-type': problem(
    415,
    'Unsupported media type',
    'Send the body as "Content-Type: application/json" in UTF-8, without a Content-Encoding.',
  ),
  'run-too-late': problem(
    422,
    'Job past its time',
    'Offer a new run; compare the clocks when this keeps happening.',
  ),
  'policy-rejected': problem(
    422,
    'Rulebook rejected',
    'The member "reason" has the enclave\'s code: correct the rulebook, sign and seal it again.',
  ),
  'resolution-rejected': problem(
    422,
    'Resolution rejected',
    'Read the order again, and sign what it needs now.',
  ),
  'invalid-signature': problem(
    422,
    'Authorization not signed by the enclave',
    "Sign the authorization with the enclave's signing key for this chain and contract.",
  ),
  'opening-not-sponsored': problem(
    422,
    'Opening not paid for by the platform',
    "Open the escrow with the wallet's own gas, and post the order without its opening.",
  ),
  'invalid-opening': problem(
    422,
    'Opening not signed by its account',
    'Sign the opening of this very envelope, or open the escrow by a transaction.',
  ),
  'would-revert': problem(
    422,
    'Transaction would revert',
    'Read "revert", compute authorization or opening from the current state, and sign it again.',
  ),
  'rate-limited': problem(429, 'Too many requests', 'Wait for the seconds in Retry-After.'),
  'too-many-at-once': problem(
    429,
    'Too many requests at once',
    'Nothing was accepted. Wait for earlier requests to end, or for the seconds in Retry-After.',
    5,
  ),
  'too-many-runs': problem(429, 'Too many runs', 'Offer the job again after the seconds in Retry-After.', 5),
  'too-many-waiting': problem(429, 'Too many envelopes of this client without an escrow', ESCROW_FIRST, 30),
  'headers-too-large': problem(431, 'Header fields too large', 'Send fewer or shorter header fields.'),
  'relay-quota-exhausted': problem(
    429,
    'Quota used up',
    'Send it again after the seconds in Retry-After; "quota" says which quota it is. An escrow can be opened with the wallet\'s own gas at once.',
    3_600,
  ),

  // Status 5xx: the server, or what it depends on, failed or has too much to do.
  'internal-error': problem(
    500,
    'Internal error',
    'Try again later; quote the requestId when you report it.',
  ),
  'enclave-failed': problem(
    502,
    'Enclave run failed',
    'Send the same envelope again; quote the requestId when it keeps failing.',
    5,
  ),
  'chain-unavailable': problem(503, 'Chain unavailable', `Nothing stored is lost. ${LATER}`, 5),
  'market-unavailable': problem(503, 'Market data unavailable', LATER, 5),
  'storage-unavailable': problem(503, 'Storage unavailable', `Nothing was accepted. ${LATER}`, 10),
  'relayer-underfunded': problem(
    503,
    'Relayer account underfunded',
    "The operator funds the relayer's address (GET /health); then send the authorization again.",
    60,
  ),
  'platform-paused': problem(503, 'Platform paused', SAME_ENVELOPE, 3_600),
  'relay-budget-exhausted': problem(
    503,
    "Relay's gas for today used up",
    'Send the authorization again after the seconds in Retry-After, or have RELAY_DAILY_GAS raised.',
    3_600,
  ),
  'relay-overloaded': problem(
    503,
    'Relay overloaded',
    'Send the authorization again after the seconds in Retry-After.',
    5,
  ),
  'enclave-busy': problem(503, 'Enclave busy', SAME_ENVELOPE, 10),
  'keys-awaited': problem(
    503,
    'The enclave has shown no keys yet',
    'Try again once the holders have given the enclave their shares.',
    30,
  ),
  'enclave-unavailable': problem(
    503,
    'Enclave does not answer',
    'Ask again after the seconds in Retry-After.',
    5,
  ),
  'intake-full': problem(503, 'Too many envelopes without an escrow', ESCROW_FIRST, 30),
  overloaded: problem(503, 'Server overloaded', `Nothing was accepted. ${LATER}`, 5),
  'shutting-down': problem(503, 'Server shutting down', `Nothing was accepted. ${LATER}`, 5),
  'enclave-timeout': problem(
    504,
    'Enclave run timed out',
    'Read the version first: the run may have been accepted late. Then send the envelope again.',
    10,
  ),
}

/** Stable, kebab-case: programs branch on it. */
export type ProblemCode = keyof typeof PROBLEMS

/** Every code, in the order of the registry. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS).filter(isProblemCode)

function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text)
}
