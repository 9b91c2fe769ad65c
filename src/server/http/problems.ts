// Body shape: RFC 9457 (problem details for HTTP APIs).
import { z } from 'zod'
import { type Quota, quotaSchema, type Revert, revertSchema } from '../../protocol/api.js'
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, type ProblemDefinition } from './problemCodes.js'

/** One fault of a body or parameter: where it is (dotted path, empty for the whole) and what is wrong with it. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** Our own members besides the standard ones. Nothing confidential: they are sent as they are. */
export interface ProblemExtensions {
  readonly errors?: readonly FieldError[]
  /** `policy-rejected`: the enclave's own code. */
  readonly reason?: string
  /** `would-revert`: the contract's typed error. */
  readonly revert?: Revert
  /** `relay-quota-exhausted`: whose quota is used up. */
  readonly quota?: Quota
}

interface ProblemOptions {
  /** What happened this time; the code's remedy when left out. */
  readonly detail?: string
  readonly extensions?: ProblemExtensions
  readonly headers?: Readonly<Record<string, string>>
  /** Only for the log. */
  readonly cause?: unknown
}

/** A failure with a code of the registry: whoever throws it decides the answer of the request. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly status: number
  readonly detail: string
  readonly extensions: ProblemExtensions
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    const definition: ProblemDefinition = PROBLEMS[code]
    super(`${code}: ${options.detail ?? definition.title}`, { cause: options.cause })
    this.code = code
    this.status = definition.status
    this.detail = options.detail ?? definition.remedy
    this.extensions = options.extensions ?? {}
    const retryAfter = definition.retryAfterSeconds
    this.headers = {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...options.headers,
    }
  }
}

/** The RFC 9457 body. `type` is the path of the code's section in the documentation. */
export interface ProblemBody extends ProblemExtensions {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: ProblemCode
  readonly requestId: string
}

/** The same as a schema, for the API's description. */
export const problemBodySchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.enum(PROBLEM_CODES),
  requestId: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional(),
  reason: z.string().exactOptional(),
  revert: revertSchema.exactOptional(),
  quota: quotaSchema.exactOptional(),
}) satisfies z.ZodType<ProblemBody>

/** Renders a problem; the standard members win over an extension of the same name. */
export function problemBody(problem: Problem, where: { instance: string; requestId: string }): ProblemBody {
  return {
    ...problem.extensions,
    type: `/docs/errors.md#${problem.code}`,
    title: PROBLEMS[problem.code].title,
    status: problem.status,
    detail: problem.detail,
    instance: where.instance,
    code: problem.code,
    requestId: where.requestId,
  }
}
