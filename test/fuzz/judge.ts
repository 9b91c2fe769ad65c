import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { problemBodySchema } from '../../src/server/http/errors.js'
import { PROBLEMS, type ProblemCode } from '../../src/server/http/problemCodes.js'
import type { Answer } from './connection.js'
import type { WireRequest } from './requests.js'
import { ROUTES, type Service } from './routes.js'

/** Problems at any path: of a request before its route is looked for, or of its method. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  ...(['malformed-request', 'request-timeout', 'headers-too-large'] as const),
  ...(['origin-not-allowed', 'method-not-allowed'] as const),
]
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/**
 * Judges an answer by the documentation alone: status, code and shape.
 * @param request undefined where damaged bytes may ask for anything
 * @returns the fault of the answer, if any
 */
export function judge(to: Service, answer: Answer, request: WireRequest | undefined): string | undefined {
  if (answer.headers.get('x-request-id') === undefined) return 'no X-Request-Id'
  if (request?.mustFail && answer.status < 400) return `${answer.status} to what has to be refused`
  return answer.status >= 400 ? judgeProblem(to, answer, request) : judgeSuccess(to, answer, request)
}

/** The routes at the target's path; undefined when the path may be read in more than one way. */
function routesAt(to: Service, request: WireRequest | undefined) {
  if (request === undefined || !/^\/[\w/:.-]*$/.test(request.target) || request.target.includes('//')) {
    return undefined
  }
  // Case matters, and so does a slash at the end.
  return ROUTES[to].filter(({ path }) =>
    new RegExp(`^${path.replace(/:\w+/, '[^/]+')}$`).test(request.target),
  )
}

function allowedProblems(to: Service, request: WireRequest | undefined): readonly ProblemCode[] {
  const found = routesAt(to, request)
  const own = (found ?? ROUTES[to]).flatMap(({ problems }) => problems)
  // The token is checked before the path.
  const isGuarded = to === 'server' && request?.target.startsWith('/relay')
  return [
    ...COMMON_PROBLEMS,
    ...own,
    // Challenges use up their client's calls of the nodes, and then it is refused at any path.
    ...(to === 'server' ? (['rate-limited'] as const) : []),
    ...(isGuarded ? (['relay-unauthorized'] as const) : []),
    ...(found === undefined || found.length === 0 ? (['not-found'] as const) : []),
  ]
}

function judgeProblem(
  to: Service,
  { status, headers, body }: Answer,
  request: WireRequest | undefined,
): string | undefined {
  if (headers.get('content-type') !== PROBLEM_TYPE) return `${status} without a problem`
  if (request?.method === 'HEAD') return undefined
  const json = jsonOf(body)
  if (!isExactly(problemBodySchema, json)) return `${status} with a body that is no problem`
  const { code, title, type, requestId, instance } = problemBodySchema.parse(json)
  const known = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  if (known === undefined || known.status !== status || known.title !== title) return `${status} as ${code}`
  if (type !== `/errors#${code}`) return `type ${type}`
  if (requestId !== headers.get('x-request-id')) return 'another requestId than in the header'
  if (!allowedProblems(to, request).some((allowed) => allowed === code))
    return `${code} is not documented here`
  // The path of a route, where a request has asked for one by it; else nothing.
  if (request === undefined || request.target.includes(instance)) return undefined
  return 'the instance is another path'
}

function judgeSuccess(
  to: Service,
  { status, body }: Answer,
  request: WireRequest | undefined,
): string | undefined {
  const asks = (name: string) =>
    request === undefined || request.headers.some(([other]) => other.toLowerCase() === name)
  if (status === 204) {
    return asks('access-control-request-method') ? undefined : '204 to what is no preflight'
  }
  if (status === 304) return asks('if-none-match') || asks('if-modified-since') ? undefined : '304 unasked'
  const schemas = (routesAt(to, request) ?? ROUTES[to]).flatMap(({ successes }) => successes[status] ?? [])
  if (schemas.length === 0) return `${status} is not documented here`
  if (request?.method === 'HEAD') return undefined
  const json = jsonOf(body)
  return schemas.some((schema) => isExactly(schema, json)) ? undefined : `${status} of another shape`
}

/** Whether it has the schema's shape and nothing more: a field that the documentation lacks is a leak. */
function isExactly(schema: z.core.$ZodType, json: unknown): boolean {
  const parsed = z.safeParse(schema, json)
  return parsed.success && isDeepStrictEqual(z.encode(schema, parsed.data), json)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
