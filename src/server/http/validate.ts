import type { ZodError, ZodType } from 'zod'
import { type FieldError, Problem, type ProblemCode } from './problems.js'

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

/** A schema's faults as the wire has them: a dotted path and a short message. */
export function fieldErrors(error: ZodError): FieldError[] {
  return error.issues.slice(0, MAX_ERRORS).map((issue) => ({
    path: issue.path.map(String).join('.').slice(0, MAX_MESSAGE_LENGTH),
    message: issue.message.slice(0, MAX_MESSAGE_LENGTH),
  }))
}
