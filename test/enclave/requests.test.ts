// What an order costs of the broker's rate: its placement, and next to nothing beside it.
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createEnclave } from '../../src/enclave/enclave.js'
import type { RunResult } from '../../src/protocol/job.js'
import { sharedBrokerOf, usd } from '../support/brokerStandIn.js'
import { eventually } from '../support/eventually.js'
import type { OpenedOrder } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const ROUNDS = 3
const QUEUED_EACH = 4

/** A process of the enclave. */
function startProcess(timings?: ReturnType<ReturnType<typeof world>['deps']>['timings']) {
  const deps = world().deps()
  onTestFinished(() => deps.broker.close())
  // On a machine that is busy a fill is told late.
  const enclave = createEnclave({ ...deps, timings: timings ?? { ...deps.timings, fillWaitMs: 60_000 } })
  return ({ orderId, envelope }: OpenedOrder): Promise<RunResult> => {
    const stopAt = Math.floor(world().clock.now() / 1_000) + 120
    const job = { job: 'order', runId: randomUUID(), stopAt, orderId, envelope } as const
    return enclave.run(job, async () => undefined)
  }
}

/** Counts placements and looks for them from now on: by an order's id, or through the newest orders. Polls of fills go by the time. */
function counting() {
  const { requests } = world().broker.control
  const from = requests().length
  return () => {
    const seen = requests().slice(from)
    const isLook = /by_client_order_id|^\/v2\/orders\?(?!.*symbols)/
    const looks = seen.filter(({ method, url }) => method === 'GET' && isLook.test(url)).length
    return { placements: seen.filter(({ method }) => method === 'POST').length, looks }
  }
}

it('purchases and sales that take turns are placed, and not looked up while they wait', async () => {
  const { control } = world().broker
  const run = startProcess()
  for (const who of ['alice', 'bob'] as const) {
    expect(await run(await world().open({ ...buy(2_000), who }))).toMatchObject({ outcome: 'settled' })
  }
  const counts = counting()
  control.fill({ mode: 'hold' })
  for (let round = 1; round <= ROUNDS; round++) {
    const [who, other] = round % 2 === 0 ? (['alice', 'bob'] as const) : (['bob', 'alice'] as const)
    const sale = await world().open({ ...sell(100), who })
    const purchase = await world().open({ ...buy(100), who: other })
    const selling = run(sale)
    await eventually('the sale is at the broker', () => counts().placements === 2 * round - 1)
    expect(await run(purchase)).toMatchObject({ outcome: 'queued', code: 'broker-turn' })
    expect(await run(purchase)).toMatchObject({ outcome: 'queued', code: 'broker-turn' })
    control.release({})
    expect(await selling).toMatchObject({ outcome: 'settled' })
    const buying = run(purchase)
    await eventually('the purchase is at the broker', () => counts().placements === 2 * round)
    control.release({})
    expect(await buying).toMatchObject({ outcome: 'settled' })
  }
  expect(counts()).toEqual({ placements: 2 * ROUNDS, looks: 0 })
  await world().checkInvariants()
})

it.each([
  ['by the same process', 0],
  ['by another one', 1],
])(
  'orders that were written ahead while the market was closed are placed at the opening %s, without a look for each',
  async (_who, looks) => {
    const { control } = world().broker
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    control.clock({ open: false })
    let run = startProcess()
    const orders: OpenedOrder[] = []
    for (let number = 0; number < QUEUED_EACH; number++) {
      for (const who of ['alice', 'bob'] as const) {
        const order = await world().open({ ...buy(100), who, deadlineIn: 86_400 })
        expect(await run(order)).toMatchObject({ outcome: 'queued', code: 'market-closed' })
        orders.push(order)
      }
    }
    expect(control.orders()).toEqual([])
    if (looks > 0) run = startProcess()
    control.clock({ open: true })
    // What is known of a closed market has grown old.
    vi.setSystemTime(Date.now() + 10_000)
    const counts = counting()
    for (const order of orders) expect(await run(order)).toMatchObject({ outcome: 'settled' })
    expect(counts()).toEqual({ placements: orders.length, looks })
  },
)

it.each([
  ['whose answers were lost', { times: 5, respond: { status: 504, body: {} } }],
  // The broker may refuse a second order for something that the first one has used up.
  [
    'that was refused for its account',
    { times: 1, respond: { status: 403, body: { code: 40310000, message: 'insufficient buying power' } } },
  ],
])('an order %s is looked up before it is sent again, by the process that sent it', async (_which, fault) => {
  const { control } = world().broker
  const run = startProcess()
  control.fault({ method: 'POST', path: '/v2/orders', ...fault })
  const order = await world().open(buy(100))
  expect(await run(order)).toMatchObject({ outcome: 'queued' })
  const from = control.requests().length
  expect(await run(order)).toMatchObject({ outcome: 'settled' })
  const [first, second] = control
    .requests()
    .slice(from)
    .filter(({ url }) => url.startsWith('/v2/orders'))
  expect(first?.url).toContain('by_client_order_id')
  expect(second).toMatchObject({ method: 'POST', outcome: 200 })
  expect(control.orders()).toHaveLength(1)
})

it('an order that another process has sent since a process read the list is found by the send, and bought once', async () => {
  const { control } = world().broker
  const [run, other] = [startProcess(), startProcess()]
  expect(await run(await world().open(buy(100)))).toMatchObject({ outcome: 'settled' })
  control.fill({ mode: 'hold' })
  const order = await world().open(buy(200))
  const sending = other(order)
  await eventually('the order is at the broker', () => control.orders().length === 2)
  const posted = () => control.requests().filter(({ method }) => method === 'POST').length
  const before = posted()
  const second = run(order)
  await eventually('it is sent again', () => posted() > before)
  control.release({})
  const outcomes = (await Promise.all([sending, second])).map(({ outcome }) => outcome)
  expect(outcomes).toContain('settled')
  expect(control.orders()).toHaveLength(2)
  await world().checkInvariants()
})

it('a limit order does not end by the list: the rest of it may have been placed since', async () => {
  const { control, url } = world().broker
  const run = startProcess(world().deps().timings)
  const limit = { price: usd(190), timeInForce: 'DAY' } as const
  const order = await world().open({ ...buy(250), deadlineIn: 86_400, limit })
  expect(await run(order)).toMatchObject({ outcome: 'placed' })
  control.clock({ open: false })
  control.clock({ open: true })
  const other = sharedBrokerOf(url)
  onTestFinished(() => other.close())
  const placement = await other.reserve({ orderId: 'rest', openedAt: 0, withinMs: 1_000 })
  const rest = { symbol: 'AAPL', side: 'buy', notional: usd(250), limitPrice: usd(190) } as const
  await placement?.send(
    { ...rest, clientOrderId: `${order.clientOrderId}-1` },
    { beforeSend: () => undefined },
  )
  expect(await run(order)).toMatchObject({ outcome: 'placed' })
  control.price({ symbol: 'AAPL', price: '180' })
  expect(await run(order)).toMatchObject({ outcome: 'settled' })
})
