// Actor: an employee of two live deployments on one account at the broker: a trial beside the real one, or an upgrade whose old
// enclave was left running.
// Cost: the price of one buy, and the gas to open two orders.
// Effect: she had a buy filled under one deployment, and opened the same id for the same amount under the other, within an hour. An id at
// the broker follows from the order's, so the other enclave found the fill, took it for its own, and credited it: one order at the
// broker, in two portfolios.
// Now: an enclave lists the account's newest orders at its start and once a minute while it runs. While one is there that its escrow does
// not know, it does not start, or carries out no order. Orders older than the escrow, as after the documented upgrade, and a person's
// own are none of these.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createSharedChain } from '../../src/enclave/chainState.js'
import { createEnclave, ofOwnAccount } from '../../src/enclave/enclave.js'
import type { RunFailure } from '../../src/enclave/failures.js'
import { createOwnership, type Ownership } from '../../src/enclave/ownership.js'
import type { Job } from '../../src/protocol/job.js'
import { type OpenedOrder, rulesFor, sealRulebook } from '../enclave/support/parties.js'
import { type RelayServer, startRelayServer } from '../enclave/support/relayServer.js'
import { buy } from '../enclave/support/scenarios.js'
import { createWorld, found, useWorld, type World } from '../enclave/support/world.js'
import { brokerOf, startStandIn, usd } from '../support/brokerStandIn.js'
import { startTestChain, type TestChain } from '../support/chain.js'
import { createLogLines } from '../support/logLines.js'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const one = useWorld()
let chain: TestChain
let relay: RelayServer

beforeAll(async () => {
  chain = await startTestChain()
  relay = await startRelayServer(chain)
  await found(chain)
  const broker = await startStandIn()
  const world = createWorld(chain, broker, relay)
  expect((await world.policy(await sealRulebook(chain, rulesFor(chain), 1))).outcome).toBe('accepted')
  await broker.stop()
})
afterAll(async () => {
  await relay.stop()
  await chain.stop()
})

/** The other deployment: contracts of its own, on the same account. */
const other = () => createWorld(chain, one().broker, relay)

function ownershipOf(world: World): Ownership {
  const deps = world.deps()
  onTestFinished(() => deps.broker.close())
  const shared = createSharedChain({ ...deps, pollMs: 100 }).forRun()
  return createOwnership({ ...deps, chain: shared, logger: createLogLines().logger })
}

/** The order's run as the enclave's program makes it. */
function run(world: World, ownership: Ownership, { orderId, envelope }: OpenedOrder) {
  const stopAt = Math.floor(world.clock.now() / 1_000) + 120
  const job: Job = { job: 'order', runId: randomUUID(), stopAt, orderId, envelope }
  const deps = world.deps()
  onTestFinished(() => deps.broker.close())
  return ofOwnAccount(createEnclave(deps), ownership).run(job, async () => undefined)
}

const lists = () =>
  one()
    .broker.control.requests()
    .filter(({ url }) => url.includes('direction=desc'))

it('a fill of one deployment is not credited by another, which takes no order', async () => {
  const world = other()
  const ownership = ownershipOf(world)
  await ownership.assert()
  const filled = await one().settled(buy(500))
  await one().settled({ ...buy(100), who: 'bob' })
  await world.clock.sleep(MINUTE_MS)
  const code = () =>
    ownership.assert().then(
      () => null,
      (error: RunFailure) => error.code,
    )
  await expect.poll(code).toBe('broker-shared')
  const again = await world.open({ ...buy(500), orderId: filled.orderId })
  expect(await run(world, ownership, again)).toEqual({ outcome: 'failed', code: 'broker-shared' })
  expect(await world.portfolio('alice')).toBeNull()
  expect(await world.state(again)).toBe('OPEN')
  // It does not start either.
  await expect(ownershipOf(world).assert()).rejects.toMatchObject({ code: 'broker-shared' })
})

it('an own order is none of these, in flight or forgotten, and the list costs one request a minute', async () => {
  const ownership = ownershipOf(one())
  await ownership.assert()
  const before = lists().length
  for (let order = 0; order < 5; order++) {
    const opened = await one().open(buy(100))
    expect(await run(one(), ownership, opened)).toMatchObject({ outcome: 'settled' })
  }
  expect(lists().length).toBe(before)
  await one().clock.sleep(MINUTE_MS)
  await Promise.all([1, 2, 3].map(() => ownership.assert()))
  await expect.poll(() => lists().length).toBe(before + 1)
  // Another process remembers nothing of them, and asks the chain.
  await ownershipOf(one()).assert()
})

it('a person’s own trade with the account is none of these', async () => {
  const trader = brokerOf(one().broker.url)
  await trader.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: randomUUID() })
  await ownershipOf(one()).assert()
})

it('the orders of the contracts before, after the documented upgrade, are none of these', async () => {
  await one().settled(buy(100))
  const later = await startTestChain({ args: ['--timestamp', String(Math.floor(Date.now() / 1_000) + 120)] })
  try {
    await ownershipOf(createWorld(later, one().broker, relay)).assert()
  } finally {
    await later.stop()
  }
})

it('an ended deployment no longer counts after an hour, and a broker that does not answer delays no run', async () => {
  const world = other()
  await one().settled(buy(100))
  await expect(ownershipOf(world).assert()).rejects.toMatchObject({ code: 'broker-shared' })
  await world.clock.sleep(HOUR_MS + 3 * MINUTE_MS)
  await ownershipOf(world).assert()
  one().broker.control.fault({ method: 'GET', path: '/v2/orders', respond: { status: 503, body: {} } })
  await ownershipOf(world).assert()
})
