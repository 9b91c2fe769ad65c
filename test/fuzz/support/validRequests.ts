import { type RunMessageKind, signRunMessage } from '../../../src/protocol/runMessage.js'
import type { Random } from '../../faults/random.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'
import { type ApiRoute, ROUTES, type Service } from './apiRoutes.js'
import { type Header, type WireRequest, withHeader } from './wire.js'
import { anyEnvelope, anyHex, anyRunId, type Json, type World } from './world.js'

/** A request that is as it should be, and what its body is made of. */
export interface ValidRequest {
  readonly request: WireRequest
  readonly json: Json | undefined
  /** The same with the signature of its body as it then is, where the route wants one. */
  readonly sign: (request: WireRequest) => WireRequest
}

/** How often a rulebook is one that is run: its caller waits for the run's end. */
const RULEBOOK_RUNS = 0.003
const KNOWN_ORDER = 0.3
const KNOWN_RUN = 0.3
/** How often a job is one that is run, or was. */
const KNOWN_JOB = 0.4
const BYTES = [1, 31, 256, 512, 1_024, 4_096] as const

/** A request to a route, by `METHOD /path`, as its own client would send it. */
export function validRequest(route: ApiRoute, random: Random, world: World): ValidRequest {
  const headers: Header[] = [['Host', 'localhost']]
  if (route.path.startsWith('/relay')) headers.push(['Authorization', `Bearer ${world.token}`])
  if (random.chance(0.2)) headers.push(['Origin', world.origin])
  // Another client than all the others, as a proxy tells it.
  if (random.chance(0.2)) headers.push(['X-Forwarded-For', '192.0.2.1'])
  const runId = random.chance(KNOWN_RUN) ? random.pick(world.runIds) : anyRunId(random)
  const target = route.path
    .replace(':runId', runId)
    .replace(/:\w+/, (name) => parameter(name.slice(1), random, world))
  if (route.method === 'GET') {
    return { request: { method: 'GET', target, headers, body: undefined }, json: undefined, sign: asItIs }
  }
  const json = bodyOf(route.path, random, world)
  const { signedAs } = route
  const signs = signedAs === 'job' ? `${json.runId}` : runId
  const sign = signedAs === undefined ? asItIs : signer(signedAs, signs, world)
  headers.push(['Content-Type', 'application/json'])
  const body = Buffer.from(JSON.stringify(json))
  return { request: sign({ method: 'POST', target, headers, body }), json, sign }
}

function asItIs(request: WireRequest): WireRequest {
  return request
}

function signer(kind: RunMessageKind, runId: string, { now }: World): ValidRequest['sign'] {
  return (request) => {
    const body = request.body?.toString('utf8') ?? ''
    const fields = Object.entries(signRunMessage(RUN_SECRET, { kind, runId, body }, now()))
    return fields.reduce((signed, [name, value]) => withHeader(signed, name, value), request)
  }
}

/** One of all routes; of those with a body more, as there is more to get wrong. */
export function anyRoute(random: Random, to: Service): ApiRoute {
  const posts = ROUTES[to].filter(({ method }) => method === 'POST')
  const [first, ...others] = random.chance(0.5) ? posts : ROUTES[to]
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
    case '/orders/:orderId/cancel':
      // Random signatures recover to random signers, so none of them is stored.
      return { ...anyEnvelope(random, random.pick(BYTES)), sig: anySignature(random) }
    case '/resolutions':
      // Random signatures recover to random signers: no run is started.
      return { ...anyEnvelope(random, 512), validBefore: 2_000_000_000, sig: anySignature(random) }
    case '/policy':
      // One that nothing but its point keeps from being run.
      if (!random.chance(RULEBOOK_RUNS)) return { ...anyEnvelope(random, 512), epk: `0x05${'11'.repeat(32)}` }
      // Random signatures recover to random signers: no run is started for those.
      return random.chance(0.5)
        ? random.pick(world.rulebooks)
        : { ...anyEnvelope(random, 512), author: authorOf(random, world) }
    case '/runs/:runId/result':
      return resultOf(random)
    case '/':
      return jobOf(random, world)
    default:
      return random.pick(world.authorizations)
  }
}

function authorOf(random: Random, world: World): Json {
  return { orgId: random.pick(world.orgIds), sig: anySignature(random) }
}

/** A signature in the form that the contracts take, which no key has made. */
function anySignature(random: Random): string {
  const part = () => `0${anyHex(random, 32).slice(3)}`
  return `0x${part()}${part()}1b`
}

/** The right envelope of an open order, junk under it, or one whose escrow never opens. */
function orderOf(random: Random, world: World): Json {
  const envelope = anyEnvelope(random, random.pick(BYTES))
  if (!random.chance(KNOWN_ORDER)) return { orderId: anyHex(random, 32), ...envelope }
  return random.chance(0.5)
    ? random.pick(world.openOrders)
    : { orderId: random.pick(world.orderIds), ...envelope }
}

/** Possible results of a run; some are of a policy's, like the runs that the server awaits. */
function resultOf(random: Random): Json {
  return random.pick<Json>([
    { outcome: 'failed', code: 'broker-unavailable' },
    { outcome: 'rejected', code: 'wrong-version', notice: anyEnvelope(random, 64) },
    { outcome: 'placed', retryAt: 4_000_000_000 },
    { outcome: 'accepted', orgId: anyHex(random, 32), version: 1 },
  ])
}

/** One of those that the enclave runs once, or one that comes too late. */
function jobOf(random: Random, world: World): Json {
  if (random.chance(KNOWN_JOB)) return random.pick(world.jobs)
  const orderId = random.pick(world.orderIds)
  return { job: 'order', runId: anyRunId(random), stopAt: 1, orderId, envelope: anyEnvelope(random, 64) }
}
