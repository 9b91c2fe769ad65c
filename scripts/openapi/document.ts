import * as z from 'zod'
import { addressSchema } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { runIdSchema } from '../../src/protocol/job.js'
import { Problem, problemBody, problemBodySchema } from '../../src/server/http/errors.js'
import { PROBLEMS, type ProblemCode } from '../../src/server/http/problemCodes.js'
import { pageFileSchema } from '../../src/server/openapi/router.js'
import { OPERATIONS, type Operation, TAGS } from './operations.js'
import { jsonSchemas, nameOf } from './schemas.js'

// OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.1.html

/** A part of the document. */
export type JsonObject = Record<string, unknown>

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

/** The caller's proof: the relay's token, or the enclave's signature. */
const SECURITY: Partial<Record<Operation['tag'], { scheme: string; refusal: ProblemCode }>> = {
  Relay: { scheme: 'relayToken', refusal: 'relay-unauthorized' },
  Runs: { scheme: 'runSignature', refusal: 'run-unauthorized' },
}

/** The parts of paths, by their names in them. */
const PATH_PARAMETERS: Readonly<Record<string, readonly [schema: z.core.$ZodType, description: string]>> = {
  orderId: [bytes32Schema, "The order's id, chosen by the client."],
  orgId: [bytes32Schema, "The institution's name as ASCII, zero-padded."],
  address: [addressSchema, 'A wallet.'],
  digest: [bytes32Schema, 'The EIP-712 digest that was signed.'],
  runId: [runIdSchema, 'The id that the run has in its job.'],
  file: [pageFileSchema, 'Its name.'],
}

/** The names of the parameters in a path. */
export function parametersIn(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

/** Every code that an operation answers, by status. */
export function problemsOf(operation: Operation): ReadonlyMap<number, ProblemCode[]> {
  const { path, tag, body, problems = [] } = operation
  const refusal = SECURITY[tag]?.refusal
  const codes: ProblemCode[] = [
    ...OF_EVERY_ROUTE,
    ...(body === undefined ? [] : OF_EVERY_BODY),
    ...(parametersIn(path).length === 0 ? [] : (['invalid-parameter'] as const)),
    ...(refusal === undefined ? [] : [refusal]),
    // An overloaded server still takes results of runs.
    ...(tag === 'Runs' ? [] : (['too-many-at-once', 'overloaded'] as const)),
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
export function describeApi(version: string) {
  const answered = OPERATIONS.flatMap((operation) => [...problemsOf(operation).values()].flat())
  const paths: Record<string, JsonObject> = {}
  for (const operation of OPERATIONS) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: describe(operation) }
  }
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
    paths,
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

function describe(operation: Operation): JsonObject {
  const { operationId, tag, path, summary, description, body, answers } = operation
  const scheme = SECURITY[tag]?.scheme
  const cached = isCached(operation)
  const headers: (keyof typeof REQUEST_HEADERS)[] = [
    'X-Request-Id',
    ...(cached ? (['If-None-Match'] as const) : []),
    ...(operationId === 'postAuthorization' ? (['Prefer'] as const) : []),
    ...(tag === 'Runs' ? (['webhook-id', 'webhook-timestamp'] as const) : []),
  ]
  const caching: HeaderName[] = tag === 'Documentation' ? ['ETag', 'Last-Modified'] : ['ETag']
  const unchanged = 'The ETag in `If-None-Match` is the current one.'
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(scheme !== undefined && { security: [{ [scheme]: [] }] }),
    parameters: [...parametersIn(path).map(inPath), ...headers.map((name) => reference('parameters', name))],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaRef(body) } } },
    }),
    responses: Object.fromEntries([
      ...answers.map(({ status, description, content, headers = [] }) => [
        String(status),
        {
          description,
          headers: headersOf([...headers, ...(cached ? caching : [])]),
          ...(content !== undefined && { content: contentOf(content) }),
        },
      ]),
      ...(cached ? [['304', { description: unchanged, headers: headersOf(caching) }]] : []),
      ...[...problemsOf(operation)].map(([status, codes]) => [
        String(status),
        problemResponse(status, codes),
      ]),
    ]),
  }
}

function inPath(name: string): JsonObject {
  const [schema, description] = PATH_PARAMETERS[name] ?? []
  if (schema === undefined) throw new Error(`the parameter ${name} is not described`)
  return { name, in: 'path', required: true, description, schema: schemaRef(schema) }
}

function contentOf(content: z.core.$ZodType | readonly string[]): JsonObject {
  if (content instanceof z.core.$ZodType) return { 'application/json': { schema: schemaRef(content) } }
  return Object.fromEntries(content.map((type) => [type, { schema: { type: 'string' } }]))
}

/** Whether an answer has an ETag. */
export function isCached({ method, answers }: Operation): boolean {
  return method === 'get' && answers.some(({ content }) => content !== undefined)
}

function reference(kind: string, name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` }
}

function schemaRef(schema: z.core.$ZodType): JsonObject {
  return reference('schemas', nameOf(schema))
}

function problemResponse(status: number, codes: readonly ProblemCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: headersOf(problemHeaders(status)),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            schemaRef(problemBodySchema),
            { type: 'object', properties: { status: { const: status }, code: { enum: codes } } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, reference('examples', code)])),
      },
    },
  }
}

function problemHeaders(status: number): HeaderName[] {
  if (status === 401) return ['WWW-Authenticate']
  return status === 429 || status > 500 ? ['Retry-After'] : []
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

const text = (description: string) => ({ description, schema: { type: 'string' } })
const required = (description: string) => ({ ...text(description), required: true })

/** The headers of every answer of a route or of the checks before it. The introduction lists them once for all answers. */
const COMMON_HEADERS = {
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
}
export const OF_EVERY_ANSWER: readonly string[] = Object.keys(COMMON_HEADERS)

/** Every header that an answer may have, but for those of the connection and of the body (RFC 9110, 6.4 and 7.6). */
const HEADERS = {
  ...COMMON_HEADERS,
  ETag: text('For `If-None-Match`.'),
  'Last-Modified': text('When the file last changed.'),
  Location: required('Where the state can be read, or the documentation.'),
  Link: required('The documentation, for programs and for people (RFC 8631).'),
  'Retry-After': {
    ...required('Seconds after which to try again.'),
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': required('`Bearer realm="relay"` (RFC 6750), or `Webhook realm="runs"`.'),
}
type HeaderName = keyof typeof HEADERS

const INTRODUCTION = `Sealed order intake, transaction relay and status of confidential equity trading.

## Place an order

The client library does all of this: \`client.placeOrder({ side: 'BUY', symbol: 'AAPL', usdc })\`. By HTTP:

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
${Object.entries(COMMON_HEADERS)
  .map(([name, { description }]) => `  - \`${name}\`: ${description}`)
  .join('\n')}`

/** References to an answer's own headers. */
function headersOf(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]))
}

/** Request headers: of any request, of a read, and of routes that name them. */
const REQUEST_HEADERS = {
  'X-Request-Id': 'An id of your own: 1 to 128 of `A-Z a-z 0-9 . _ -`. Any other is replaced.',
  'If-None-Match': 'An ETag that you have: the answer is 304 while it is the current one.',
  Prefer: '`wait=<seconds>` (RFC 7240): how long the server waits for the end before it answers, at most 20.',
  'webhook-id': 'Names the message: see docs/protocol.md.',
  'webhook-timestamp': 'When it was signed, in Unix seconds.',
} as const

function requestHeader([name, description]: [name: string, description: string]): [string, JsonObject] {
  const required = name.startsWith('webhook-') && { required: true }
  return [name, { name, in: 'header', ...required, description, schema: { type: 'string' } }]
}
