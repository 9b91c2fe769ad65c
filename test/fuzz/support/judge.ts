import { problemSchema } from '../../../src/protocol/api.js'
import { PROBLEMS, type ProblemCode } from '../../../src/server/http/problemCodes.js'
import type { Answer } from './answers.js'
import { API_ROUTES, type ApiRoute, COMMON_PROBLEMS, UNKNOWN_PATH_PROBLEMS } from './apiRoutes.js'
import { headerOf, type WireRequest } from './wire.js'

/** What is wrong with an answer; undefined when nothing is. `request` is undefined when nobody can say what was asked. */
export type Judge = (answer: Answer, request: WireRequest | undefined) => string | undefined

const EVERY_PROBLEM = new Set([
  ...COMMON_PROBLEMS,
  ...UNKNOWN_PATH_PROBLEMS,
  ...API_ROUTES.flatMap(({ problems }) => problems),
])
const PATTERNS = API_ROUTES.map((route) => ({
  route,
  // As Express reads a path: its letters matter, a slash at its end does not.
  pattern: new RegExp(`^${route.path.replace(/:\w+/, '[^/]+')}/?$`),
}))
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** Judges by the documentation alone: statuses, codes and shapes. */
export function createJudge(): Judge {
  return (answer, request) => {
    if (answer.headers.get('x-request-id') === undefined) return 'no X-Request-Id'
    if (answer.status >= 400) return judgeProblem(answer, request)
    return judgeSuccess(answer, request)
  }
}

/** The routes at the target's path; undefined when the path may be read in more than one way. */
function routesAt({ target }: WireRequest): readonly ApiRoute[] | undefined {
  if (!/^\/[\w/:.-]*$/.test(target) || target.includes('//')) return undefined
  return PATTERNS.filter(({ pattern }) => pattern.test(target)).map(({ route }) => route)
}

function allowedProblems(request: WireRequest | undefined): ReadonlySet<ProblemCode> {
  const routes = request === undefined ? undefined : routesAt(request)
  if (routes === undefined) return EVERY_PROBLEM
  const own = routes.flatMap(({ problems }) => problems)
  // The token comes before the path.
  const guarded: readonly ProblemCode[] = request?.target.startsWith('/relay') ? ['relay-unauthorized'] : []
  const unknown = routes.length === 0 ? UNKNOWN_PATH_PROBLEMS : []
  return new Set([...COMMON_PROBLEMS, ...own, ...guarded, ...unknown])
}

function judgeProblem(
  { status, headers, body }: Answer,
  request: WireRequest | undefined,
): string | undefined {
  if (headers.get('content-type') !== PROBLEM_TYPE) return `${status} without a problem`
  if (request?.method === 'HEAD') return undefined
  const parsed = problemSchema.safeParse(jsonOf(body))
  if (!parsed.success) return `${status} with a body that is no problem`
  const { code, title, type, requestId, instance } = parsed.data
  const known = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  if (known === undefined || known.status !== status || known.title !== title) return `${status} as ${code}`
  if (type !== `/docs/errors.md#${code}`) return `type ${type}`
  if (requestId !== headers.get('x-request-id')) return 'another requestId than in the header'
  if (![...allowedProblems(request)].some((allowed) => allowed === code))
    return `${code} is not one of its codes`
  return judgeInstance(instance, request)
}

/** The path of a route, where a request has asked for one by it; else nothing. */
function judgeInstance(instance: string, request: WireRequest | undefined): string | undefined {
  if (instance === '' || request === undefined) return undefined
  return request.target.includes(instance) ? undefined : 'instance is not what was asked for'
}

function judgeSuccess({ status, body }: Answer, request: WireRequest | undefined): string | undefined {
  const routes = (request && routesAt(request)) ?? API_ROUTES
  if (status === 204) return isPreflight(request) ? undefined : '204 to what is no preflight'
  if (status === 304)
    return request === undefined || headerOf(request, 'if-none-match') ? undefined : '304 unasked'
  const schemas = routes.flatMap(({ successes }) => successes[status] ?? [])
  if (schemas.length === 0) return `${status} is not one of its statuses`
  if (request?.method === 'HEAD') return undefined
  const json = jsonOf(body)
  return schemas.some((schema) => schema.safeParse(json).success) ? undefined : `${status} of another shape`
}

function isPreflight(request: WireRequest | undefined): boolean {
  return request === undefined || headerOf(request, 'access-control-request-method') !== undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
