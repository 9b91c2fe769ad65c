import type { ProblemDefinition } from '../http/clientProblems.js'
import { Problem, problemBody } from '../http/errors.js'
import { PROBLEMS, type ProblemCode } from '../http/problemCodes.js'
import { type Answer, type Operation, type PathParameter, TAGS } from './operation.js'
import { OPERATIONS } from './operations.js'
import { type JsonObject, jsonSchemas, schemaRef } from './schemas.js'

// OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.1.html

/** Any route may answer with these. */
const OF_EVERY_ROUTE = [
  'malformed-request',
  'origin-not-allowed',
  'request-timeout',
  'headers-too-large',
  'rate-limited',
  'internal-error',
  'shutting-down',
] as const
const OF_EVERY_BODY = ['malformed-json', 'invalid-body', 'body-too-large', 'unsupported-media-type'] as const

const UNAUTHORIZED = { relayToken: 'relay-unauthorized', runSignature: 'run-unauthorized' } as const

/** Every code that an operation answers, by status. */
export function problemsOf(operation: Operation): ReadonlyMap<number, readonly ProblemCode[]> {
  const { body, parameters, security, problems } = operation
  const codes: ProblemCode[] = [
    ...OF_EVERY_ROUTE,
    ...(body === undefined ? [] : OF_EVERY_BODY),
    ...(parameters === undefined ? [] : (['invalid-parameter'] as const)),
    ...(security === undefined ? [] : [UNAUTHORIZED[security]]),
    // An overloaded server still takes results of runs.
    ...(security === 'runSignature' ? [] : (['too-many-at-once', 'overloaded'] as const)),
    ...problems,
  ]
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}

/** The API as an OpenAPI document, made of the table of operations and of the schemas that the routes use. */
export function describeApi(version: string): JsonObject {
  const answered = OPERATIONS.flatMap((operation) => [...problemsOf(operation).values()].flat())
  return {
    openapi: '3.1.1',
    info: {
      title: 'Confidential trading backend',
      version,
      description: INTRODUCTION,
      license: { name: 'All rights reserved', identifier: 'LicenseRef-All-Rights-Reserved' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(OPERATIONS),
    components: {
      schemas: jsonSchemas(),
      headers: HEADERS,
      parameters: Object.fromEntries(Object.entries(REQUEST_HEADERS).map(requestHeader)),
      examples: problemExamples([...new Set(answered)]),
      securitySchemes: {
        relayToken: { type: 'http', scheme: 'bearer', description: 'The RELAY_AUTH_TOKEN of the server.' },
        runSignature: {
          type: 'apiKey',
          in: 'header',
          name: 'webhook-signature',
          description:
            'Standard Webhooks: the signature of `webhook-id`, `webhook-timestamp` and the exact body by ENCLAVE_TRIGGER_SECRET.',
        },
      },
    },
  }
}

function pathsOf(operations: readonly Operation[]): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const path = templateOf(operation.path)
    paths[path] = { ...paths[path], [operation.method]: describe(operation) }
  }
  return paths
}

/** A path as OpenAPI has it: `/orders/{orderId}`. */
function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function describe(operation: Operation): JsonObject {
  const { operationId, tag, summary, description, body, security } = operation
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(security === undefined ? {} : { security: [{ [security]: [] }] }),
    parameters: parametersOf(operation),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaRef(body) } } } }),
    responses: responsesOf(operation),
  }
}

function parametersOf(operation: Operation): JsonObject[] {
  const { parameters = {}, requestHeaders = [] } = operation
  return [
    ...Object.entries(parameters).map(([name, parameter]) => inPath(name, parameter)),
    requestHeaderRef('X-Request-Id'),
    ...(isCached(operation) ? [requestHeaderRef('If-None-Match')] : []),
    ...requestHeaders.map(requestHeaderRef),
  ]
}

function inPath(name: string, { schema, description }: PathParameter): JsonObject {
  return { name, in: 'path', required: true, description, schema: schemaRef(schema) }
}

/** Every answer of an operation, by status. */
function responsesOf(operation: Operation): JsonObject {
  const { answers } = operation
  const good = answers.map((answer) => [String(answer.status), responseOf(operation, answer)] as const)
  const unchanged = isCached(operation) ? [['304', unchangedOf(operation)] as const] : []
  const problems = [...problemsOf(operation)].map(
    ([status, codes]) => [String(status), problemResponse(status, codes)] as const,
  )
  return Object.fromEntries([...good, ...unchanged, ...problems])
}

function responseOf(operation: Operation, { description, content, headers = [] }: Answer): JsonObject {
  return {
    description,
    headers: headersOf([...headers, ...cachingHeaders(operation)]),
    ...(content === undefined ? {} : { content: contentOf(content) }),
  }
}

function contentOf(content: NonNullable<Answer['content']>): JsonObject {
  if (typeof content === 'string') return { 'application/json': { schema: schemaRef(content) } }
  return Object.fromEntries(content.mediaTypes.map((type) => [type, { schema: { type: 'string' } }]))
}

function unchangedOf(operation: Operation): JsonObject {
  return {
    description: 'The ETag in `If-None-Match` is the current one.',
    headers: headersOf(cachingHeaders(operation)),
  }
}

/** Whether an answer has an ETag. */
export function isCached({ method, answers }: Operation): boolean {
  return method === 'get' && answers.some(({ content }) => content !== undefined)
}

function cachingHeaders(operation: Operation): HeaderName[] {
  if (!isCached(operation)) return []
  const { answers } = operation
  const isFile = answers.some(({ content }) => typeof content !== 'string')
  return isFile ? ['ETag', 'Last-Modified'] : ['ETag']
}

function problemResponse(status: number, codes: readonly ProblemCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: headersOf(problemHeaders(status, codes)),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            schemaRef('Problem'),
            { type: 'object', properties: { status: { const: status }, code: { enum: codes } } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

function problemHeaders(status: number, codes: readonly ProblemCode[]): HeaderName[] {
  const retry = codes.every((code) => definitionOf(code).retryAfterSeconds !== undefined)
  return [
    ...(retry || status === PROBLEMS['rate-limited'].status ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ]
}

function definitionOf(code: ProblemCode): ProblemDefinition {
  return PROBLEMS[code]
}

/** A body of each of these codes, without details of a thrower. */
function problemExamples(codes: readonly ProblemCode[]): JsonObject {
  return Object.fromEntries(
    codes.map((code) => {
      const where = { instance: '', requestId: '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0' }
      return [code, { summary: PROBLEMS[code].title, value: problemBody(new Problem(code), where) }]
    }),
  )
}

const text = (description: string): JsonObject => ({ description, schema: { type: 'string' } })
const required = (description: string): JsonObject => ({ ...text(description), required: true })

/** Every header that an answer may have, but for those of the connection and of the body (RFC 9110, 6.4 and 7.6). */
const HEADERS = {
  'X-Request-Id': required(
    "The caller's own id if it is well-formed, otherwise a new one. Every log line of the request has it.",
  ),
  'Cache-Control': text('Caches ask again before they reuse an answer, and store no error.'),
  'Content-Security-Policy': text('No script in an answer runs; the pages load from this server alone.'),
  'Cross-Origin-Resource-Policy': text('`same-origin`'),
  'Strict-Transport-Security': text('For servers behind TLS.'),
  'X-Content-Type-Options': text('`nosniff`'),
  'X-Frame-Options': text('`SAMEORIGIN`'),
  Vary: text('`Origin`'),
  'Access-Control-Allow-Origin': text(
    'The one origin whose pages may call; only for a request that names it.',
  ),
  'Access-Control-Expose-Headers': text('The headers that such a page may read.'),
  'RateLimit-Policy': text("One client's requests in a minute; where they are counted."),
  RateLimit: text('The requests left, and for how many seconds.'),
  ETag: text('For `If-None-Match`.'),
  'Last-Modified': text('When the file last changed.'),
  Location: required('Where the state can be read, or the documentation.'),
  Link: required('The documentation, for programs and for people (RFC 8631).'),
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': required('`Bearer realm="relay"` (RFC 6750), or `Webhook realm="runs"`.'),
} as const satisfies Record<string, JsonObject>
type HeaderName = keyof typeof HEADERS

/** The headers of every answer of a route or of the checks before it. The introduction lists them once for all answers. */
export const OF_EVERY_ANSWER: readonly HeaderName[] = [
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

const INTRODUCTION = `Sealed order intake, transaction relay and status of confidential equity trading.

## Place an order

The client library does all of this: \`client.placeOrder({ side: 'BUY', symbol: 'AAPL', maxSpend, deadline })\`. By HTTP:

1. \`GET /wallet/{address}\`: go on if \`screen\` is \`trade\`. \`GET /market\` has the symbols and their prices.
2. \`GET /enclave-key\`: the key to seal to, the chain and the escrow. Compare key and escrow with those that you have pinned.
3. Sign the intent with the wallet (EIP-712) and seal it to that key. \`commit\` is \`keccak256(ct)\` of the envelope. Keep the envelope.
4. Open the escrow on the chain: \`approve\` its USDC, then \`openBuy(orderId, commit, amount, deadline)\`. For a sale or a withdrawal
   \`openRequest(orderId, commit, deadline)\`.
5. \`POST /orders\` with the \`orderId\` and the envelope. 202 with your own \`commit\` means that the envelope is stored.
6. \`GET /orders/{orderId}\` until \`state\` is \`SETTLED\` or \`REFUNDED\`. The portfolio is on the chain, sealed to the employee's key.

The project's docs/protocol.md has every byte of the formats, with test vectors; the bodies below are some of them.

## Conventions

- Bytes are \`0x\` hex, amounts are decimal strings of integers in base units (USDC and prices 6 decimals, shares 9), times are ISO 8601 in UTC.
- An error is \`application/problem+json\` with a stable \`code\`; [/errors](/errors) explains each. \`not-found\` (404) answers a path, and \`method-not-allowed\` (405, with \`Allow\`) a method, that is not listed here.
- GET answers HEAD too. A cross-origin request is let in from one origin alone, whose pre-flight is answered with 204.
- Answers may gain members: ignore those that you do not know. A request with unknown members is refused.
- Every answer has these headers, besides its own:
${OF_EVERY_ANSWER.map((name) => `  - \`${name}\`: ${HEADERS[name].description}`).join('\n')}`

/** References to an answer's own headers. */
function headersOf(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Request headers: of any request, of a read, and of routes that name them. */
const REQUEST_HEADERS = {
  'X-Request-Id': 'An id of your own: 1 to 128 of `A-Z a-z 0-9 . _ -`. Any other is replaced.',
  'If-None-Match': 'An ETag that you have: the answer is 304 while it is the current one.',
  Prefer:
    '`wait=<seconds>` (RFC 7240): how long the server waits for the end before it answers, at most RELAY_WAIT.',
  'webhook-id': 'Names the message: see docs/protocol.md.',
  'webhook-timestamp': 'When it was signed, in Unix seconds.',
} as const

function requestHeader([name, description]: [name: string, description: string]): [string, JsonObject] {
  const required = name.startsWith('webhook-') && { required: true }
  return [name, { name, in: 'header', ...required, description, schema: { type: 'string' } }]
}

/** A reference to one of them. */
function requestHeaderRef(name: keyof typeof REQUEST_HEADERS): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}
