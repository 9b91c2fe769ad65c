// The one storm: orders of a few employees in a world under planned faults, then in calm, and judged at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOrderIdOf } from '../../src/protocol/identifiers.js'
import { findDisagreements } from '../e2e/support/invariants.js'
import { lastHolder, readAudit } from './audit.js'
import { createMarket } from './broker.js'
import { findLostCancels } from './cancels.js'
import { lateRows, unsavedBroadcasts } from './history.js'
import { findLeftovers } from './leftovers.js'
import { findOpeningFaults } from './openings.js'
import type { Fault, FaultOf, Plan } from './plan.js'
import { findRelayFaults, readRelays } from './relays.js'
import { countOrders, createTraders, type Traders } from './traders.js'
import { startWorld, until, type World } from './world.js'

export type Print = (line: string) => void

export interface StormOptions {
  readonly plan: Plan
  readonly servers: number
  /** Where everything is kept. */
  readonly directory: string
  readonly print?: Print
  /** How long no order may end in calm. */
  readonly patienceMs?: number
  /** How long faults that wait for their occasion may do so after the last one has begun. */
  readonly lingerMs?: number
}

/**
 * The longest that no order may end after the last fault. A run whose enclave does not answer counts as under way until
 * thirty seconds after its end (120 s). Then it begins again. The rest is for a machine that others use.
 */
const STALL_BOUND_MS = 180_000
/**
 * How long records and processes of ended orders may stay after the last order's end. The run of a killed enclave counts as under way until
 * the next one, which starts within five seconds, has posted its end within fifteen.
 */
const LEFTOVER_BOUND_MS = 30_000
const LINGER_MS = 60_000
const CHECK_MS = 200

/** Runs the plan against real programs on a real chain. Needs `npm run build`. */
export async function runStorm(options: StormOptions) {
  const { plan, servers, directory, print = () => undefined } = options
  const { patienceMs = STALL_BOUND_MS, lingerMs = LINGER_MS } = options
  const world = await startWorld({ directory, servers })
  const { notes } = world
  const traders = createTraders(world)
  const leftoverMs = Math.min(patienceMs, LEFTOVER_BOUND_MS)
  try {
    const market = createMarket(world.sandbox.broker, notes)
    const struck = await rage(plan, { world, traders, market, print }, lingerMs)
    print(`calm, ${traders.open()} orders open`)
    const unsettled = await settle(traders, patienceMs)
    const left = await checkUntilNone(leftoverMs, () => findLeftovers(world))
    const lost = await checkUntilNone(leftoverMs, () => findLostCancels(traders))
    const wrong = await checkUntilNone(leftoverMs, () => findRelayFaults(world))
    const records = await readRelays(world)
    const history = world.database === undefined ? [] : await readAudit(world.database.url())
    const violations = [
      ...unsettled,
      ...traders.faults,
      ...left,
      ...strangersAtBroker(world, traders),
      ...(await findDisagreements(world)).map((found) => JSON.stringify(found)),
      ...(await findOpeningFaults(world, traders, records)),
      ...wrong,
      ...lost,
      ...(await notes.overlaps()),
      ...world.faults(),
      ...lateRows(history),
      ...(world.database === undefined ? [] : unsavedBroadcasts(history, world.broadcasts)),
    ]
    return {
      orders: countOrders(traders),
      deaths: world.deaths(),
      struck: new Set(struck),
      violations,
    }
  } finally {
    await traders.stop()
    await world.stop()
  }
}

interface Surroundings {
  readonly world: World
  readonly traders: Traders
  readonly market: ReturnType<typeof createMarket>
  readonly print: Print
}

/** Strikes with everything that was planned, each at its time. @returns what has struck */
async function rage(plan: Plan, around: Surroundings, lingerMs: number): Promise<string[]> {
  const { world, traders, market, print } = around
  const { notes, nodes } = world
  const struck: string[] = []
  const faults = plan.faults.map(async (fault) => {
    await sleep(fault.atMs)
    print(`${fault.part} ${fault.kind}`)
    if (await strike(fault, around)) struck.push(`${fault.part} ${fault.kind}`)
  })
  const orders = plan.orders.map(async (order) => {
    await sleep(order.atMs)
    traders.begin(order)
  })
  await Promise.all([...orders, ...faults, sleep(plan.lengthMs)])
  const isWaiting = async () => nodes.isWaiting() || (await notes.acts('planned')).length > 0
  await until(async () => traders.open() === 0 || !(await isWaiting()), lingerMs)
  await notes.takeBack()
  nodes.calm()
  await market.calm()
  await world.database?.calm()
  for (const proxy of world.servers.flatMap(({ links }) => Object.values(links))) {
    proxy.set('pass')
    proxy.delay(0)
  }
  world.followPrimary()
  return [...struck, ...nodes.struck(), ...(await notes.acts('done'))]
}

/** Strikes with a fault. @returns whether it has struck by itself: others wait for their occasion */
async function strike(fault: Fault, { world, traders, market }: Surroundings): Promise<boolean> {
  const { notes, chain, nodes, database } = world
  const { part, kind, forMs, amount } = fault
  const atStep = (program: 'server' | 'enclave', verb: 'killed' | 'stopped' | 'failed') =>
    notes.plan(program, { verb, step: kind, forMs, afterMs: amount })
  switch (part) {
    case 'server':
      await atServer(fault, await targetOf(fault, world))
      return true
    case 'step':
      await atStep('server', forMs > 0 ? 'stopped' : 'killed')
      return false
    case 'enclave':
      await atStep('enclave', forMs > 0 ? 'stopped' : 'killed')
      return false
    case 'store':
      if (kind === 'full-for-long') await beFull(notes, forMs)
      else await atStep('server', 'failed')
      return kind === 'full-for-long'
    case 'database':
      if (kind === 'crashed') await database?.crash(forMs)
      if (kind === 'read-only') await database?.readOnly(forMs)
      if (kind === 'full') await beFull(notes, forMs)
      if (kind === 'failed-over') await database?.failOver(world.followPrimary)
      return true
    case 'link':
      await atLink(fault, await targetOf(fault, world))
      return true
    case 'market':
      market.closed(fault)
      return true
    case 'clock':
      await market.clock(kind, fault)
      return true
    case 'broker':
      await market.broker[kind](fault)
      return true
    case 'blocks':
      await chain.reorganize(fault)
      return true
    case 'chain':
      return chain.strike(kind, amount)
    case 'opening':
      return chain.forgetOpening(traders.isTaken, (await targetOf(fault, world)).program.kill)
    case 'read':
      nodes.strike.read(fault)
      return false
    case 'send':
      nodes.strike.send(fault)
      return false
    case 'spell':
      nodes.strike.spell(fault)
      return false
  }
}

type Server = World['servers'][number]

async function targetOf({ target }: Fault, { servers, database }: World): Promise<Server> {
  const holder =
    typeof target === 'string' && database !== undefined
      ? await lastHolder(database.url(), target).catch(() => undefined)
      : undefined
  const number = typeof target === 'string' ? Number(holder?.split('.')[0] ?? 0) : target
  const server = servers[number % servers.length]
  if (server === undefined) throw new RangeError(`there is no server ${number}`)
  return server
}

async function atServer({ kind, forMs, amount }: FaultOf<'server'>, { program }: Server): Promise<void> {
  if (kind === 'killed') await program.kill()
  if (kind === 'killed-at-start') await program.killTwice(amount)
  if (kind === 'paused') await program.pause(forMs)
  if (kind === 'stopped') program.stop()
}

async function atLink({ kind, link, forMs, amount }: FaultOf<'link'>, { links }: Server): Promise<void> {
  const proxy = links[link]
  if (kind === 'partitioned') proxy?.set('hang')
  if (kind === 'answers-lost') proxy?.set('lose-answers')
  if (kind === 'delayed') proxy?.delay(amount)
  if (kind !== 'cut') await sleep(forMs)
  proxy?.set('pass')
  proxy?.delay(0)
  if (kind !== 'delayed') proxy?.cut()
}

async function beFull(notes: World['notes'], forMs: number): Promise<void> {
  await notes.setFull(true)
  await sleep(forMs)
  await notes.setFull(false)
}

/** Waits in calm until every order has ended by itself. @param patienceMs how long none may end */
async function settle(traders: Traders, patienceMs: number): Promise<string[]> {
  let open = traders.open()
  let lastEndAt = performance.now()
  while (open > 0 && performance.now() - lastEndAt < patienceMs) {
    await sleep(CHECK_MS)
    if (traders.open() < open) lastEndAt = performance.now()
    open = traders.open()
  }
  return open === 0
    ? []
    : [`${open} orders do not end: none has for ${patienceMs} ms, and nothing goes wrong`]
}

/** Every order at the broker is one of the traders'; the doctor's rules hold their fills against portfolios and escrow. */
function strangersAtBroker({ sandbox }: World, { placed }: Traders): string[] {
  const known = new Set([...placed.keys()].map((orderId) => clientOrderIdOf(orderId)))
  return sandbox.broker
    .orders()
    .filter(
      ({ account, replaces, client_order_id: id }) => account === 'enclave' && !replaces && !known.has(id),
    )
    .map(({ client_order_id: id }) => `the broker has an order ${id} that no trader placed`)
}

/** Checks until nothing is found, or for so long: some things need a moment to end. @returns what the last check found */
async function checkUntilNone(patienceMs: number, check: () => Promise<string[]>): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = await check()
    if (found.length === 0 || performance.now() > giveUpAt) return found
    await sleep(CHECK_MS)
  }
}
