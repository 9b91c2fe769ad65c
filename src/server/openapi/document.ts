// OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.1.html
import { problemExamples, responsesOf } from './answers.js'
import { HEADERS, REQUEST_HEADERS, requestHeaderRef } from './headers.js'
import { type Operation, type PathParameter, TAGS } from './operation.js'
import { OPERATIONS, problemsOf } from './operations.js'
import { type JsonObject, jsonSchemas, schemaRef } from './schemas.js'

const INTRODUCTION = `Sealed order intake, transaction relay and status of confidential equity trading.

- Bytes are \`0x\` hex, amounts are decimal strings of integers in base units (USDC and prices 6 decimals, shares 9), times are ISO 8601 in UTC.
- An error is \`application/problem+json\` with a stable \`code\`. \`not-found\` (404) answers a path, and \`method-not-allowed\` (405, with \`Allow\`) a method, that is not listed here.
- GET answers HEAD too. A cross-origin request is let in from one origin alone, whose pre-flight is answered with 204.
- An answer may have further members one day: ignore those that you do not know. A request with unknown members is refused.`

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
      parameters: REQUEST_HEADERS,
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

function parametersOf({ method, parameters = {}, requestHeaders = [] }: Operation): JsonObject[] {
  return [
    ...Object.entries(parameters).map(([name, parameter]) => inPath(name, parameter)),
    requestHeaderRef('X-Request-Id'),
    ...(method === 'get' ? [requestHeaderRef('If-None-Match')] : []),
    ...requestHeaders.map(requestHeaderRef),
  ]
}

function inPath(name: string, { schema, description }: PathParameter): JsonObject {
  return { name, in: 'path', required: true, description, schema: schemaRef(schema) }
}
