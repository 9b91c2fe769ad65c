import { Ajv2020 } from 'ajv/dist/2020.js'
import * as z from 'zod'
import {
  describeApi,
  isCached,
  type JsonObject,
  OF_EVERY_ANSWER,
  problemsOf,
} from '../../scripts/openapi/document.js'
import { OPERATIONS } from '../../scripts/openapi/operations.js'

/** An answer as it came over HTTP. */
export interface SeenAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Headers that belong to the connection or the body: OpenAPI leaves them to HTTP (RFC 9110, RFC 9112). */
const TRANSPORT = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive'])

const referenceSchema = z.object({ $ref: z.string() })
const headerSchema = z.object({ required: z.boolean().optional() })
const responseSchema = z.object({
  headers: z.record(z.string(), referenceSchema),
  content: z.record(z.string(), z.unknown()).optional(),
})
const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ operationId: z.string(), responses: z.record(z.string(), responseSchema) }),
    ),
  ),
  components: z.object({ headers: z.record(z.string(), headerSchema) }),
})
const problemSchema = z.object({ code: z.string() })

/** Checks answers against the document that the server serves, and keeps which were seen. */
export function createContract() {
  const described = describeApi('0.0.0')
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('date-time', (text) => z.iso.datetime().safeParse(text).success)
  ajv.addFormat('uuid', (text) => z.uuid().safeParse(text).success)
  ajv.addSchema(closed(described), 'api')
  const { paths, components } = documentSchema.parse(described)
  const seen = new Set<string>()
  const operations = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => {
        const place = `api#/paths/${escapePointer(path)}/${method}/responses`
        return [operationId, { responses, place }] as const
      }),
    ),
  )

  function headerFaults(headers: SeenAnswer['headers'], documented: Record<string, { $ref: string }>) {
    const names = new Map([
      ...OF_EVERY_ANSWER.map((name) => [name.toLowerCase(), name] as const),
      ...Object.entries(documented).map(
        ([name, { $ref }]) => [name.toLowerCase(), $ref.split('/').at(-1)] as const,
      ),
    ])
    const unknown = Object.keys(headers).filter((name) => !names.has(name) && !TRANSPORT.has(name))
    const missing = [...names].filter(
      ([name, component]) => components.headers[component ?? '']?.required && headers[name] === undefined,
    )
    return [
      ...unknown.map((name) => `the header ${name} is not documented`),
      ...missing.map(([name]) => `the header ${name} is missing`),
    ]
  }

  function bodyFaults(text: string, type: string, content: Record<string, unknown> = {}, place: string) {
    if (Object.keys(content).length === 0) return text === '' ? [] : ['a body is not documented']
    if (!(type in content)) return [`the media type ${type} is not documented`]
    const value: unknown = type.endsWith('json') ? JSON.parse(text) : text
    const validate = ajv.compile({ $ref: `${place}/content/${escapePointer(type)}/schema` })
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  return {
    /** The differences between this operation's answer and the document; empty when there are none. */
    faultsOf(operationId: string, { status, headers, text }: SeenAnswer): string[] {
      const operation = operations.get(operationId)
      const response = operation?.responses[String(status)]
      if (operation === undefined || response === undefined) return [`${status} is not documented`]
      const type = String(headers['content-type'] ?? '').split(';')[0] ?? ''
      const place = `${operation.place}/${status}`
      const code = type === 'application/problem+json' ? ` ${problemSchema.parse(JSON.parse(text)).code}` : ''
      seen.add(`${operationId} ${status}${code}`)
      return [
        ...headerFaults(headers, response.headers),
        ...bodyFaults(text, type, response.content, place),
      ].map((fault) => `${operationId} ${status}${code}: ${fault}`)
    },
    /** Answers of the table that were not seen: `getOrder 404 order-not-found`. */
    unseen: () => answersOfTheTable().filter((answer) => !seen.has(answer)),
  }
}

function answersOfTheTable(): string[] {
  return OPERATIONS.flatMap((operation) => {
    const { operationId, answers } = operation
    const good = answers.map(({ status }) => `${operationId} ${status}`)
    const unchanged = isCached(operation) ? [`${operationId} 304`] : []
    const problems = [...problemsOf(operation)].flatMap(([status, codes]) =>
      codes.map((code) => `${operationId} ${status} ${code}`),
    )
    return [...good, ...unchanged, ...problems]
  })
}

/** A client is to ignore members that it does not know; a test is to find them. */
function closed(document: JsonObject): JsonObject {
  const { schemas } = z
    .object({ schemas: z.record(z.string(), z.unknown()) })
    .loose()
    .parse(document.components)
  return { ...document, components: { schemas: close(schemas) } }
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, close(part)]))
  return 'properties' in inner && inner.type === 'object' ? { additionalProperties: false, ...inner } : inner
}

/** RFC 6901, as a part of a URI. */
function escapePointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
