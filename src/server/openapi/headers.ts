import type { JsonObject } from './schemas.js'

const text = (description: string): JsonObject => ({ description, schema: { type: 'string' } })
const required = (description: string): JsonObject => ({ ...text(description), required: true })

/** Every header that an answer may have, but for those of the connection and of the body (RFC 9110, 6.4 and 7.6). */
export const HEADERS = {
  'X-Request-Id': required(
    "The caller's own, when it is sane, else a new one. Every log line of the request has it.",
  ),
  'Cache-Control': text('An answer is not served again without asking; an error is not stored at all.'),
  'Content-Security-Policy': text(
    'Nothing of an answer may run, and of the page only what comes from this server.',
  ),
  'Cross-Origin-Resource-Policy': text('`same-origin`'),
  'Strict-Transport-Security': text('For servers behind TLS.'),
  'X-Content-Type-Options': text('`nosniff`'),
  'X-Frame-Options': text('`SAMEORIGIN`'),
  Vary: text('`Origin`'),
  'Access-Control-Allow-Origin': text(
    'The one origin whose pages may call; only for a request that names it.',
  ),
  'Access-Control-Expose-Headers': text('The headers that such a page may read.'),
  'RateLimit-Policy': text('What one client may ask for in a minute; where its requests are counted.'),
  RateLimit: text('What is left of it, and for how many seconds.'),
  ETag: text('For `If-None-Match`.'),
  'Last-Modified': text('Of the file.'),
  Location: required('Where the state can be read.'),
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': required('`Bearer realm="relay"` (RFC 6750), or `Webhook realm="runs"`.'),
} as const satisfies Record<string, JsonObject>
export type HeaderName = keyof typeof HEADERS

/** Of every answer that a route or the checks before it give. */
const OF_EVERY_ANSWER: readonly HeaderName[] = [
  'X-Request-Id',
  'Cache-Control',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'RateLimit-Policy',
  'RateLimit',
]

/** References to the headers of an answer: those of every one, and these. */
export function headersOf(others: readonly HeaderName[]): JsonObject {
  const names = [...OF_EVERY_ANSWER, ...others]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** What a caller may send along: with any request, with a read, and to routes that say so. */
export const REQUEST_HEADERS = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of your own: 1 to 128 of `A-Z a-z 0-9 . _ -`. Any other is replaced.',
    schema: { type: 'string' },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'An ETag that you have: the answer is 304 while it is the current one.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`wait=<seconds>` (RFC 7240): how long to be kept waiting for the end, RELAY_WAIT at most.',
    schema: { type: 'string' },
  },
  'webhook-id': {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'Names the message: see docs/protocol.md.',
    schema: { type: 'string' },
  },
  'webhook-timestamp': {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When it was signed, in Unix seconds.',
    schema: { type: 'string' },
  },
} as const

/** A reference to one of them. */
export function requestHeaderRef(name: keyof typeof REQUEST_HEADERS): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}
