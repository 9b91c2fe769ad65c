import type { Random } from '../../faults/support/random.js'
import { API_ROUTES, type ApiRoute } from './apiRoutes.js'
import type { Header, WireRequest } from './wire.js'
import { anyEnvelope, anyHex, type Json, type World } from './world.js'

/** A request that is as it should be, and what its body is made of. */
export interface ValidRequest {
  readonly request: WireRequest
  readonly json: Json | undefined
}

/** How often a rulebook is one that is run: each run is a process. */
const RULEBOOK_RUNS = 0.003
const KNOWN_ORDER = 0.3
const BYTES = [1, 31, 256, 512, 1_024, 4_096] as const

/** A request to a route, by `METHOD /path`, as its own client would send it. */
export function validRequest(route: ApiRoute, random: Random, world: World): ValidRequest {
  const headers: Header[] = [['Host', 'localhost']]
  if (route.path.startsWith('/relay')) headers.push(['Authorization', `Bearer ${world.token}`])
  if (random.chance(0.2)) headers.push(['Origin', world.origin])
  const target = route.path.replace(/:\w+/, (name) => parameter(name.slice(1), random, world))
  if (route.method === 'GET') {
    return { request: { method: 'GET', target, headers, body: undefined }, json: undefined }
  }
  const json = bodyOf(route.path, random, world)
  headers.push(['Content-Type', 'application/json'])
  return { request: { method: 'POST', target, headers, body: Buffer.from(JSON.stringify(json)) }, json }
}

/** One of all routes; of those with a body more, as there is more to get wrong. */
export function anyRoute(random: Random): ApiRoute {
  const posts = API_ROUTES.filter(({ method }) => method === 'POST')
  const [first, ...others] = random.chance(0.5) ? posts : API_ROUTES
  if (first === undefined) throw new Error('no routes')
  return random.pick([first, ...others])
}

function parameter(name: string, random: Random, world: World): string {
  switch (name) {
    case 'address':
      return random.chance(0.8) ? random.pick(world.accounts) : anyHex(random, 20)
    case 'orgId':
      return random.pick(world.orgIds)
    case 'digest':
      return random.pick(world.digests)
    default:
      return random.pick(world.orderIds)
  }
}

function bodyOf(path: string, random: Random, world: World): Json {
  switch (path) {
    case '/orders':
      return orderOf(random, world)
    case '/policy':
      // One that nothing but its point keeps from being run.
      if (!random.chance(RULEBOOK_RUNS)) return { ...anyEnvelope(random, 512), epk: `0x05${'11'.repeat(32)}` }
      return random.pick(world.rulebooks)
    default:
      return random.pick(world.authorizations)
  }
}

/** The right envelope of an open order, junk under it, or one whose escrow never opens. */
function orderOf(random: Random, world: World): Json {
  const envelope = anyEnvelope(random, random.pick(BYTES))
  if (!random.chance(KNOWN_ORDER)) return { orderId: anyHex(random, 32), ...envelope }
  return random.chance(0.5)
    ? random.pick(world.openOrders)
    : { orderId: random.pick(world.orderIds), ...envelope }
}
