import { problemSchema } from '../../../src/protocol/api.js'
import { PROBLEMS, type ProblemCode } from '../../../src/server/http/problemCodes.js'
import type { Answer } from './answers.js'
import { type ApiRoute, COMMON_PROBLEMS, ROUTES, type Service, UNKNOWN_PATH_PROBLEMS } from './apiRoutes.js'
import { headerOf, type WireRequest } from './wire.js'

/** Returns the fault of an answer, if any. `request` is undefined when the question is unknown. */
export type Judge = (answer: Answer, request: WireRequest | undefined) => string | undefined

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** A service's documentation. */
interface Documentation {
  readonly routes: readonly ApiRoute[]
  /** The routes at the target's path; undefined when the path may be read in more than one way. */
  routesAt(request: WireRequest): readonly ApiRoute[] | undefined
  allowedProblems(request: WireRequest | undefined): ReadonlySet<ProblemCode>
}

/** Judges by the documentation alone: statuses, codes and shapes. */
export function createJudge(service: Service): Judge {
  const documentation = documentationOf(service)
  return (answer, request) => {
    if (answer.headers.get('x-request-id') === undefined) return 'no X-Request-Id'
    if (answer.status >= 400) return judgeProblem(answer, request, documentation)
    return judgeSuccess(answer, request, documentation)
  }
}

function documentationOf(service: Service): Documentation {
  const routes = ROUTES[service]
  const every = new Set([
    ...COMMON_PROBLEMS,
    ...UNKNOWN_PATH_PROBLEMS,
    ...routes.flatMap(({ problems }) => problems),
  ])
  const patterns = routes.map((route) => ({
    route,
    // Its letters matter, and so does a slash at its end.
    pattern: new RegExp(`^${route.path.replace(/:\w+/, '[^/]+')}$`),
  }))
  const routesAt: Documentation['routesAt'] = ({ target }) => {
    if (!/^\/[\w/:.-]*$/.test(target) || target.includes('//')) return undefined
    return patterns.filter(({ pattern }) => pattern.test(target)).map(({ route }) => route)
  }
  return {
    routes,
    routesAt,
    allowedProblems(request) {
      const found = request === undefined ? undefined : routesAt(request)
      if (found === undefined) return every
      const own = found.flatMap(({ problems }) => problems)
      // The token comes before the path.
      const isGuarded = service === 'server' && request?.target.startsWith('/relay')
      const guarded: readonly ProblemCode[] = isGuarded ? ['relay-unauthorized'] : []
      const unknown = found.length === 0 ? UNKNOWN_PATH_PROBLEMS : []
      return new Set([...COMMON_PROBLEMS, ...own, ...guarded, ...unknown])
    },
  }
}

function judgeProblem(
  { status, headers, body }: Answer,
  request: WireRequest | undefined,
  { allowedProblems }: Documentation,
): string | undefined {
  if (headers.get('content-type') !== PROBLEM_TYPE) return `${status} without a problem`
  if (request?.method === 'HEAD') return undefined
  const parsed = problemSchema.safeParse(jsonOf(body))
  if (!parsed.success) return `${status} with a body that is no problem`
  const { code, title, type, requestId, instance } = parsed.data
  const known = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1]
  if (known === undefined || known.status !== status || known.title !== title) return `${status} as ${code}`
  if (type !== `/errors#${code}`) return `type ${type}`
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

function judgeSuccess(
  { status, body }: Answer,
  request: WireRequest | undefined,
  documentation: Documentation,
): string | undefined {
  const routes = (request && documentation.routesAt(request)) ?? documentation.routes
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
