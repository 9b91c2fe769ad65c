// Actor: an employee of two deployments on one account at the broker: a trial beside the real one, an upgrade whose old enclave was left
// running, or, after the documented upgrade, of the new contracts alone.
// Cost: the price of one buy, or one dollar, and the gas to open two orders.
// Effect: she had a buy filled under one deployment, and opened the same id under the other, for the same amount or for a dollar. An id at
// the broker follows from the order's, so the other enclave found the fill, took it for its own, and credited it: one order at the
// broker, in two portfolios. She sold shares that others paid for.
// Now: the enclave takes a broker's order for its own only if symbol, side, size and age fit the entry and the deployment. It lists the
// account's newest orders at its start and once a minute while it runs, and carries out no order before it has read a list, or while the
// last one is old. While one is there that its escrow does not know, it carries out none either, until that is an hour old; what the owner
// resolves goes on. Orders older than the escrow, as after the documented upgrade, and a person's own are none of these.
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { BrokerOrder } from '../../src/broker/index.js'
import { createSharedChain } from '../../src/enclave/chainState.js'
import { createEnclave, ofOwnAccount } from '../../src/enclave/enclave.js'
import type { RunFailure } from '../../src/enclave/failures.js'
import { createOwnership, type Ownership } from '../../src/enclave/ownership.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { Job } from '../../src/protocol/job.js'
import { type OpenedOrder, resolutionOf } from '../enclave/support/parties.js'
import { buy } from '../enclave/support/scenarios.js'
import { createWorld, setUpWorld, useOtherChain, useWorld, type World } from '../enclave/support/world.js'
import { answering, brokerOf, dearer, usd } from '../support/brokerStandIn.js'
import { startTestChain } from '../support/chain.js'
import { createLogLines } from '../support/logLines.js'

const HOUR_MS = 3_600_000
/** A list that failed is asked for again after so long. */
const RETRY_MS = 5_000
const MINUTE_MS = 60_000

const one = useWorld()
const chain = useOtherChain()

/** The other deployment: contracts of its own, on the same account. */
const other = () => createWorld(chain(), one().broker)

function ownershipOf(world: World): Ownership {
  const deps = world.deps()
  onTestFinished(() => deps.broker.close())
  const shared = createSharedChain({ ...deps, pollMs: 100 }).forRun()
  return createOwnership({ ...deps, chain: shared, logger: createLogLines().logger })
}

/** A job's run as the enclave's program makes it. */
function runJob(world: World, ownership: Ownership, job: Pick<Job, 'job'> & Partial<Job>) {
  const stopAt = Math.floor(world.clock.now() / 1_000) + 120
  const deps = world.deps()
  onTestFinished(() => deps.broker.close())
  const whole = { runId: randomUUID(), stopAt, ...job } as Job
  return ofOwnAccount(createEnclave(deps), ownership, deps.relay).run(whole, async () => undefined)
}

const run = (world: World, ownership: Ownership, { orderId, envelope }: OpenedOrder) =>
  runJob(world, ownership, { job: 'order', orderId, envelope })

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
  expect(await runJob(world, ownership, { job: 'reconcile' })).toMatchObject({ code: 'broker-shared' })
  // Nor does another process of it.
  await expect(ownershipOf(world).assert()).rejects.toMatchObject({ code: 'broker-shared' })
  // The operator's way out stays open.
  const entryHash: Hex = `0x${'77'.repeat(32)}`
  const figures = { resolves: 'order', v: 1, entryHash, quantity: 0n, value: 0n } as const
  const envelope = await resolutionOf(chain(), { ...figures, orderId: again.orderId })
  expect(await runJob(world, ownership, { job: 'resolve', envelope })).toEqual({
    outcome: 'rejected',
    code: 'entry-changed',
  })
})

it('a person’s own trade with the broker account does not count as another deployment', async () => {
  const trader = brokerOf(one().broker.url)
  await trader.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: randomUUID() })
  await ownershipOf(one()).assert()
})

it('orders of the contracts before the documented upgrade do not count as another deployment', async () => {
  await one().settled(buy(100))
  const later = await startTestChain({ args: ['--timestamp', String(Math.floor(Date.now() / 1_000) + 120)] })
  try {
    await ownershipOf(createWorld(later, one().broker)).assert()
  } finally {
    await later.stop()
  }
})

it('an ended deployment no longer counts after an hour, and orders go on without a restart', async () => {
  const world = other()
  const ownership = ownershipOf(world)
  await one().settled(buy(100))
  await expect(ownership.assert()).rejects.toMatchObject({ code: 'broker-shared' })
  await world.clock.sleep(HOUR_MS - MINUTE_MS)
  await expect(ownership.assert()).rejects.toMatchObject({ code: 'broker-shared' })
  await world.clock.sleep(4 * MINUTE_MS)
  await ownership.assert()
  // Neither for a process that starts now.
  await ownershipOf(world).assert()
})

it('no order is taken before a list has been read, nor once the last one is old', async () => {
  const ownership = ownershipOf(one())
  const { control } = one().broker
  const isSilent = {
    method: 'GET',
    path: '/v2/orders',
    times: 1_000,
    respond: { status: 503, body: {} },
  } as const
  control.fault(isSilent)
  const order = await one().open(buy(100))
  expect(await run(one(), ownership, order)).toEqual({ outcome: 'failed', code: 'broker-unavailable' })
  expect(control.orders()).toEqual([])
  // The next run fails as the list did, without asking again at once.
  const asked = lists().length
  expect(await run(one(), ownership, order)).toEqual({ outcome: 'failed', code: 'broker-unavailable' })
  expect(lists()).toHaveLength(asked)
  control.clear({ what: 'faults' })
  await one().clock.sleep(RETRY_MS)
  expect(await run(one(), ownership, order)).toMatchObject({ outcome: 'settled' })

  control.fault(isSilent)
  await one().clock.sleep(5 * MINUTE_MS)
  const early = await one().open(buy(100))
  expect(await run(one(), ownership, early)).toMatchObject({ outcome: 'queued' })
  await one().clock.sleep(MINUTE_MS)
  const late = await one().open(buy(100))
  expect(await run(one(), ownership, late)).toEqual({ outcome: 'failed', code: 'broker-unavailable' })
  expect(control.orders()).toHaveLength(1)
  control.clear({ what: 'faults' })
  await one().clock.sleep(RETRY_MS)
  expect(await run(one(), ownership, late)).toMatchObject({ outcome: 'settled' })
})

it('an old fill is not credited to a new order of one dollar', async () => {
  const filled = await one().settled(buy(1_000))
  const world = other()
  const again = await world.open({ ...buy(1), orderId: filled.orderId })
  expect(await world.run(again)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  const portfolio = await world.portfolio('alice')
  expect(portfolio?.positions ?? {}).toEqual({})
  expect(portfolio?.cash ?? 0n).toBe(0n)
  expect(await world.state(again)).toBe('OPEN')
})

it('an old fill is not credited to a new order for the same amount, when it is older than the contracts', async () => {
  const filled = await one().settled(buy(500))
  // The new contracts are younger than the fill by more than clocks may differ.
  const later = await startTestChain({
    args: ['--timestamp', String(Math.floor(Date.now() / 1_000) + HOUR_MS / 1_000)],
  })
  try {
    await setUpWorld(later)
    const world = createWorld(later, one().broker)
    await world.clock.sleep(HOUR_MS)
    const again = await world.open({ ...buy(500), orderId: filled.orderId })
    expect(await world.run(again)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
    expect((await world.portfolio('alice'))?.positions ?? {}).toEqual({})
    expect(one().broker.control.orders()).toHaveLength(1)
  } finally {
    await later.stop()
  }
})

it('a buy that cost more than it paid for moves no money, beyond a tolerance', async () => {
  const order = await one().open(buy(100))
  const result = await one().run(order, { deps: { broker: dearer(one().broker.url, 2_000n) } })
  expect(result).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await one().state(order)).toBe('OPEN')
  expect((await one().portfolio('alice'))?.positions).toEqual({})
})

it.each<[string, Partial<BrokerOrder>]>([
  ['another amount', { notional: usd(1_000) }],
  ['another symbol', { symbol: 'TSLA' }],
  ['a sale', { side: 'sell' }],
])('a fill under her id that is for %s is not hers, however young it is', async (_what, other) => {
  const order = await one().live(buy(100))
  one().broker.control.release({})
  const result = await one().run(order, { deps: { broker: answering(one().broker.url, () => other) } })
  expect(result).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  expect(await one().state(order)).toBe('OPEN')
  expect((await one().portfolio('alice'))?.positions).toEqual({})
})
