import { z } from 'zod'
import { Problem } from '../http/problems.js'
import { fieldErrors, parseBody } from '../http/validate.js'

const ENVELOPE_FIELDS = new Set(['epk', 'iv', 'ct', 'tag'])
const textFields = z.looseObject({ epk: z.string(), iv: z.string(), ct: z.string(), tag: z.string() })

/**
 * Parses a body that carries a sealed envelope.
 *
 * @throws Problem `invalid-envelope` when the four fields are there as text and nothing but their content is wrong,
 *   else `invalid-body`
 */
export function parseEnvelopeBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const onlyEnvelope = result.error.issues.every(({ path }) => ENVELOPE_FIELDS.has(String(path[0])))
  if (!onlyEnvelope || !textFields.safeParse(body).success) return parseBody(schema, body)
  throw new Problem('invalid-envelope', { extensions: { errors: fieldErrors(result.error) } })
}
