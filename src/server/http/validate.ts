import type { ZodError, ZodType } from 'zod'
import type { ProblemCode } from './problemCodes.js'
import { type FieldError, Problem } from './problems.js'

/** A hostile body can have thousands of faults; its answer names the first ones. */
const MAX_ERRORS = 20
const MAX_MESSAGE_LENGTH = 200

/**
 * Parses a request's body with its schema.
 *
 * @throws Problem `invalid-body` with `errors: [{path, message}]`, or the code given
 */
export function parseBody<T>(
  schema: ZodType<T>,
  body: unknown,
  code: Extract<ProblemCode, 'invalid-body' | 'invalid-envelope'> = 'invalid-body',
): T {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  throw new Problem(code, { extensions: { errors: fieldErrors(result.error) } })
}

/**
 * Parses one path parameter.
 *
 * @throws Problem `invalid-parameter` with `errors: [{path: name, message}]`
 */
export function parseParam<T>(schema: ZodType<T>, name: string, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = fieldErrors(result.error).map(({ message }) => ({ path: name, message }))
  throw new Problem('invalid-parameter', { extensions: { errors } })
}

/** A schema's faults as the wire has them: a dotted path and a short message, each once though two checks may give it. */
export function fieldErrors(error: ZodError): FieldError[] {
  const faults = new Map<string, FieldError>()
  for (const issue of error.issues) {
    if (faults.size === MAX_ERRORS) break
    const path = issue.path.map(String).join('.').slice(0, MAX_MESSAGE_LENGTH)
    const message = messageOf(issue).slice(0, MAX_MESSAGE_LENGTH)
    faults.set(JSON.stringify([path, message]), { path, message })
  }
  return [...faults.values()]
}

/** A name as our own members have it; a key, an amount or a ticker does not look like one. */
const MEMBER_NAME = /^[a-z][A-Za-z]{0,31}$/

/** Never a caller's own text, which may be a secret in the wrong place: only those unknown members that look like names. */
function messageOf(issue: ZodError['issues'][number]): string {
  if (issue.code !== 'unrecognized_keys') return issue.message
  const names = issue.keys.filter((name) => MEMBER_NAME.test(name))
  return names.length === 0 ? 'unknown members' : `unknown members: ${names.join(', ')}`
}
