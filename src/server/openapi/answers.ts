import { PROBLEMS, type ProblemCode, type ProblemDefinition } from '../http/problemCodes.js'
import { Problem, problemBody } from '../http/problems.js'
import { type HeaderName, headersOf } from './headers.js'
import type { Answer, Operation } from './operation.js'
import { problemsOf } from './operations.js'
import { type JsonObject, schemaRef } from './schemas.js'

/** Every answer of an operation, by status. */
export function responsesOf(operation: Operation): JsonObject {
  const { method, answers } = operation
  const good = answers.map((answer) => [String(answer.status), responseOf(operation, answer)] as const)
  const unchanged = method === 'get' ? [['304', unchangedOf(operation)] as const] : []
  const problems = [...problemsOf(operation)].map(
    ([status, codes]) => [String(status), problemResponse(status, codes)] as const,
  )
  return Object.fromEntries([...good, ...unchanged, ...problems])
}

function responseOf(operation: Operation, { description, content, headers = [] }: Answer): JsonObject {
  return {
    description,
    headers: headersOf([...headers, ...cachingHeaders(operation)]),
    content:
      typeof content === 'string'
        ? { 'application/json': { schema: schemaRef(content) } }
        : Object.fromEntries(content.mediaTypes.map((type) => [type, { schema: { type: 'string' } }])),
  }
}

function unchangedOf(operation: Operation): JsonObject {
  return {
    description: 'What `If-None-Match` names is current.',
    headers: headersOf(cachingHeaders(operation)),
  }
}

function cachingHeaders({ method, answers }: Operation): HeaderName[] {
  if (method !== 'get') return []
  const isFile = answers.some(({ content }) => typeof content !== 'string')
  return isFile ? ['ETag', 'Last-Modified'] : ['ETag']
}

function problemResponse(status: number, codes: readonly ProblemCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: headersOf(['ETag', ...problemHeaders(status, codes)]),
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

/** A body of each of these codes, as it is sent when its thrower says no more. */
export function problemExamples(codes: readonly ProblemCode[]): JsonObject {
  return Object.fromEntries(
    codes.map((code) => {
      const where = { instance: '', requestId: '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0' }
      return [code, { summary: PROBLEMS[code].title, value: problemBody(new Problem(code), where) }]
    }),
  )
}
