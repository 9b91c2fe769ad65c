import { CLIENT_PROBLEMS, type ProblemDefinition } from './clientProblems.js'

/** Codes of status 5xx: the server, or what it depends on, failed or has too much to do. */
const SERVER_PROBLEMS = {
  'internal-error': {
    status: 500,
    title: 'Internal error',
    meaning:
      'The server failed in a way that it does not foresee. The answer reveals nothing about the cause; the log has it under the `requestId`.',
    cause: 'A defect.',
    remedy: 'Try again later; quote the requestId when you report it.',
  },
  'enclave-failed': {
    status: 502,
    title: 'Enclave run failed',
    meaning: 'The enclave run failed, or no enclave took its job.',
    cause:
      "No enclave where jobs are posted, or a wrong configuration of it; the enclave's own chain node or broker down.",
    remedy: 'Send the same envelope again; quote the requestId when it keeps failing.',
    retryAfterSeconds: 5,
  },
  'chain-unavailable': {
    status: 503,
    title: 'Chain unavailable',
    meaning:
      'No chain node answered, or none with an answer that can be used. Nothing of this request was signed or sent; what was stored before stays stored.',
    cause:
      'The nodes in `RPC_URL` are down, unreachable, limit the rate, or run no calls. At `POST /relay` also a contract address at which there is no contract.',
    remedy: 'Nothing stored is lost. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'market-unavailable': {
    status: 503,
    title: 'Market data unavailable',
    meaning: 'The market-data provider gave no usable answer.',
    cause: "An outage, a refused key, the provider's rate limit.",
    remedy: 'Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'storage-unavailable': {
    status: 503,
    title: 'Storage unavailable',
    meaning:
      'The server could not read or write its data directory or database. Nothing of this request was accepted.',
    cause: 'A full or read-only disk, missing rights on `DATA_DIR`, PostgreSQL that does not answer.',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 10,
  },
  'relayer-underfunded': {
    status: 503,
    title: 'Relayer account underfunded',
    meaning:
      "The relayer's account can't pay the most that this authorization and all that are under way may cost. New work must also leave `RELAY_MIN_BALANCE` and the gas booked for held orders, at the current price.",
    cause: 'An empty account; `GET /health` names its address.',
    remedy: "The operator funds the relayer's address (GET /health); then send the authorization again.",
    retryAfterSeconds: 60,
  },
  'platform-paused': {
    status: 503,
    title: 'Platform paused',
    meaning:
      'The guardian has paused openings and everything that the enclave signs, so the rulebook was not published. `Retry-After` is the time until the pause ends; the owner may lift it earlier.',
    cause: "An incident that the platform's operator looks into.",
    remedy: 'Send the same envelope again after the seconds in Retry-After.',
    retryAfterSeconds: 3_600,
  },
  'relay-budget-exhausted': {
    status: 503,
    title: "Relay's gas for today used up",
    meaning:
      'Gas used since midnight (UTC), gas under way and gas booked for held orders leave less of `RELAY_DAILY_GAS` than this authorization needs. New orders cannot use the reserve for held orders (a fifth of it). Nothing was signed. `Retry-After` is the time until midnight.',
    cause: "A budget too small for the day's orders, or a thief of the token with authorizations to spend.",
    remedy: 'Send the authorization again after the seconds in Retry-After, or have RELAY_DAILY_GAS raised.',
    retryAfterSeconds: 3_600,
  },
  'relay-overloaded': {
    status: 503,
    title: 'Relay overloaded',
    meaning: 'More authorizations are under way than the relay takes at once.',
    cause: 'A burst, or transactions stuck behind a low fee.',
    remedy: 'Send the authorization again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'enclave-busy': {
    status: 503,
    title: 'Enclave busy',
    meaning:
      "One rulebook of this institution runs and two wait already, or sixteen others have some. Without an admin's signature in `author`, the client counts in place of the institution.",
    cause: 'Several rulebooks at the same moment; a rulebook without `author` while strangers post junk.',
    remedy: 'Send the same envelope again after the seconds in Retry-After.',
    retryAfterSeconds: 10,
  },
  'intake-full': {
    status: 503,
    title: 'Too many envelopes without an escrow',
    meaning:
      'As many orders are stored without an escrow as the server keeps (`ENVELOPE_MAX_WAITING`), and the chain does not show an open escrow for this one.',
    cause: 'Envelopes are posted for escrows that never open, and this one came before its escrow was mined.',
    remedy: 'Nothing was accepted. Send the envelope once the transaction that opens its escrow is mined.',
    retryAfterSeconds: 30,
  },
  overloaded: {
    status: 503,
    title: 'Server overloaded',
    meaning:
      'The server has more work than it can do in time, and has refused the request without looking at it. A plain `GET /health`, `/relay` with its token and results of runs never get this answer.',
    cause: 'A burst; a node or a disk that has become slow, so that `MAX_UNDER_WAY` requests wait for it.',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'shutting-down': {
    status: 503,
    title: 'Server shutting down',
    meaning: 'The server is stopping and takes no new requests.',
    cause: 'A restart or deployment.',
    remedy: 'Nothing was accepted. Try again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'enclave-timeout': {
    status: 504,
    title: 'Enclave run timed out',
    meaning:
      'Within `POLICY_RUN_TIMEOUT` the run did not end, or there was no permit to begin it. A run that began may still be accepted late.',
    cause: 'A slow chain; an enclave that hangs; other rulebooks before this one.',
    remedy: 'Read the version first: the run may have been accepted late. Then send the envelope again.',
    retryAfterSeconds: 10,
  },
} as const satisfies Record<string, ProblemDefinition>

/**
 * The one registry of error codes. A client branches on `code`, so a code is never renamed or reused. The page at /errors and
 * docs/errors.md are made from it.
 */
export const PROBLEMS = { ...CLIENT_PROBLEMS, ...SERVER_PROBLEMS }

/** Stable, kebab-case: programs branch on it. */
export type ProblemCode = keyof typeof PROBLEMS

/** Every code, in the order of the registry. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS).filter(isProblemCode)

function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text)
}
