import { randomUUID } from 'node:crypto'
import { setImmediate as soon } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createEnclave } from '../../src/enclave/enclave.js'
import { createTurns, type Turn } from '../../src/enclave/turns.js'
import type { RunResult } from '../../src/protocol/job.js'
import { openNotice } from '../../src/protocol/notice.js'
import { ENCLAVE_ACCOUNT, sharedBrokerOf, shares, startStandIn, usd } from '../support/brokerStandIn.js'
import { type OpenedOrder, USER_KEY } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'AMD', 'KO']
const ORDERS = 200

/** The order in which things happen. */
const DRAWN = fc.sample(fc.nat(1_000_000), { seed: 7, numRuns: 4_000 })

it('two hundred buys and sales of five symbols take turns: the broker refuses none, and no order waits for more than two turns', async () => {
  const broker = await startStandIn({
    symbols: SYMBOLS.map((symbol) => ({ symbol, name: symbol, price: '100' })),
    fill: { mode: 'hold' },
  })
  const positions = Object.fromEntries(SYMBOLS.map((symbol) => [symbol, '10000']))
  broker.control.account({ name: ENCLAVE_ACCOUNT.name, cash: '1000000', positions })
  // A machine that is busy answers late: no time decides here.
  const client = sharedBrokerOf(broker.url, { timeoutMs: 60_000 })
  onTestFinished(async () => {
    client.close()
    await broker.stop()
  })
  let drawn = 0
  const draw = (below: number) => (DRAWN[drawn++ % DRAWN.length] ?? 0) % below
  const turns = createTurns({ now: () => 0 })
  /** In the order in which they were sent, with the time of each order's wait in steps of the test. */
  const sent: (Turn & { began: number; ended: number })[] = []
  let step = 0

  async function trade(turn: Turn, openedAt: number): Promise<void> {
    const { orderId, symbol, side } = turn
    const began = ++step
    // Some runs wait for their turn to its end, and others end and come again.
    const patience = () => (openedAt % 3 === 0 ? soon() : new Promise(() => undefined))
    while (!(await turns.enter(turn, patience))) {
      turns.comesAgain(orderId, 0)
      await soon()
    }
    sent.push({ ...turn, began, ended: ++step })
    const placement = await client.reserve({ orderId, openedAt, withinMs: 60_000 })
    if (!placement) throw new Error('no turn under the rate')
    const buying = { side: 'buy', notional: usd(100) } as const
    const terms = side === 'BUY' ? buying : ({ side: 'sell', qty: shares(1) } as const)
    const request = { symbol, clientOrderId: orderId, ...terms }
    let order = await placement.send(request, { beforeSend: () => turns.sent(orderId) })
    while (order.state === 'live') order = await client.follow(order, 60_000)
    turns.ended(orderId)
  }

  let open = ORDERS
  const orders = Array.from({ length: ORDERS }, async (_, index) => {
    for (let pause = draw(400); pause > 0; pause--) await soon()
    const symbol = SYMBOLS[draw(SYMBOLS.length)] ?? 'AAPL'
    const turn = { orderId: randomUUID(), symbol, side: draw(2) === 0 ? 'BUY' : 'SELL' }
    await trade(turn, index).finally(() => open--)
  })
  const filling = (async () => {
    while (open > 0) {
      const live = broker.control.orders().filter(({ status }) => /^(new|partially_filled)$/.test(status))
      const chosen = live[draw(Math.max(1, live.length))]
      // Some fills come in parts.
      const fraction = draw(3) === 0 ? '0.5' : '1'
      if (chosen) broker.control.release({ clientOrderId: chosen.client_order_id, fraction })
      for (let pause = draw(10); pause >= 0; pause--) await soon()
    }
  })()
  await Promise.all([...orders, filling])
  const posted = broker.control.requests().filter(({ method }) => method === 'POST')
  expect(posted).toHaveLength(ORDERS)
  expect(posted.filter(({ outcome }) => outcome !== 200)).toEqual([])
  for (const symbol of SYMBOLS) {
    const line = sent.filter((each) => each.symbol === symbol)
    const starts = line.filter(({ side }, index) => side !== line[index - 1]?.side)
    for (const { side, began, ended } of line) {
      expect(starts.filter((start) => start.ended > began && start.ended <= ended).length).toBeLessThan(3)
      const start = starts.findLast((each) => each.ended <= ended)?.ended ?? 0
      const passed = line.filter((other) => other.side !== side && other.began < began && other.ended > ended)
      // Only one that waited as its side's turn began goes before another of the other side that came first.
      if (began > start) expect(passed).toEqual([])
    }
  }
})

/** One enclave for several runs, as they share it. */
function enclaveOfMany() {
  const deps = world().deps()
  onTestFinished(() => deps.broker.close())
  const enclave = createEnclave(deps)
  let block = 0
  return ({ orderId, envelope }: OpenedOrder): Promise<RunResult> => {
    const stopAt = Math.floor(world().clock.now() / 1_000) + 120
    const openedAt = { block: ++block, logIndex: 0 }
    const job = { job: 'order', runId: randomUUID(), stopAt, orderId, envelope, openedAt } as const
    return enclave.run(job, async () => undefined)
  }
}
const noticeOf = async ({ orderId }: OpenedOrder, { notice }: RunResult) =>
  notice && openNotice(notice, USER_KEY, orderId)

it.each(['its own process', 'another one'])(
  'an order waits while an opposite one of %s is open, and only its owner reads why',
  async (of) => {
    await world().settled(buy(1_000))
    const run = enclaveOfMany()
    world().broker.control.fill({ mode: 'hold' })
    const sale = await world().open(sell(100))
    // Also where another process has sent it, as the broker refuses the second.
    const sellIn = of === 'its own process' ? run : enclaveOfMany()
    expect(await sellIn(sale)).toMatchObject({ outcome: 'placed' })
    const purchase = await world().open({ ...buy(100), who: 'bob' })
    const waiting = await run(purchase)
    expect(waiting).toMatchObject({ outcome: 'queued', code: 'broker-turn' })
    expect(await noticeOf(purchase, waiting)).toMatchObject({ code: 'waits-for-opposite' })
    // It does not ask the broker again before the sale has ended.
    const { length: asked } = world().broker.control.requests()
    expect(await run(purchase)).toMatchObject({ outcome: 'queued', code: 'broker-turn' })
    expect(world().broker.control.requests()).toHaveLength(asked)
    world().broker.control.clear({ what: 'fills' })
    world().broker.control.release({ symbol: 'AAPL' })
    expect(await sellIn(sale)).toMatchObject({ outcome: 'settled' })
    await world().clock.sleep(10_000)
    expect(await run(purchase)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  },
)

const refusals = () =>
  world()
    .broker.control.requests()
    .filter(({ outcome }) => outcome === 403)

const day = (price: number) => ({ price: usd(price), timeInForce: 'DAY' }) as const
/** The types and limits of what the broker has taken since the first purchase. */
const taken = () =>
  world()
    .broker.control.orders()
    .slice(1)
    .map(({ side, limit_price, status }) => [side, limit_price, status])

it.each([
  ['at the market’s price', undefined],
  ['with a limit that would cross it', day(301)],
])(
  'an order %s passes a resting limit order of the other side: nobody waits for it, or learns its price',
  async (_name, limit) => {
    await world().settled(buy(1_000))
    const run = enclaveOfMany()
    expect(await run(await world().open({ ...sell(100), limit: day(300) }))).toMatchObject({
      outcome: 'placed',
    })
    const crossing = { ...buy(100), who: 'bob', limit } as const
    expect(await run(await world().open(crossing))).toMatchObject({ outcome: 'settled' })
    expect(refusals()).toEqual([])
    // Another process knows of the resting order by a refusal alone.
    expect(await enclaveOfMany()(await world().open(crossing))).toMatchObject({ outcome: 'settled' })
    expect(refusals()).toHaveLength(1)
    expect(taken()).toEqual([
      ['sell', '300', 'new'],
      ['buy', '299.99', 'filled'],
      ['buy', '299.99', 'filled'],
    ])
    await world().checkInvariants()
  },
)

it.each([
  ['at the market’s price', undefined, null],
  ['with a limit for the day', day(205), '205'],
])(
  'an order %s that rests before a better price of another is placed again once that one has ended',
  async (_name, limit, own) => {
    await world().settled(buy(1_000))
    const { broker, clock } = world()
    const run = enclaveOfMany()
    broker.control.price({ symbol: 'AAPL', price: '200', bid: '199', ask: '201' })
    const sale = await world().open({ ...sell(100), limit: day(200) })
    const purchase = await world().open({ ...buy(100), who: 'bob', limit })
    expect(await run(sale)).toMatchObject({ outcome: 'placed' })
    expect(await run(purchase)).toMatchObject({ outcome: 'placed' })
    await clock.sleep(600_000)
    // The sale still rests.
    expect(await run(purchase)).toMatchObject({ outcome: 'placed' })
    broker.control.price({ symbol: 'AAPL', price: '201', bid: '200.5', ask: '201' })
    expect(await run(sale)).toMatchObject({ outcome: 'settled' })
    expect(await run(purchase)).toMatchObject({ outcome: 'placed' })
    expect(await run(purchase)).toMatchObject({ outcome: 'settled' })
    expect(taken()).toEqual([
      ['sell', '200', 'filled'],
      ['buy', '199.99', 'canceled'],
      ['buy', own, 'filled'],
    ])
    await world().checkInvariants()
  },
)

it('an order whose turn under the broker’s rate is far away tells its owner how many are ahead of it', async () => {
  const run = enclaveOfMany()
  world().broker.control.limit({ perMinute: 4 })
  const first = await world().open(buy(100))
  const second = await world().open({ ...buy(100), who: 'bob' })
  const ends = { first: await run(first), second: await run(second) }
  expect(ends.first).toMatchObject({ outcome: 'queued', code: 'broker-rate-limit' })
  expect((await noticeOf(first, ends.first))?.message).toContain('No other one is ahead of it.')
  expect(await noticeOf(second, ends.second)).toMatchObject({
    code: 'waits-for-rate',
    message: expect.stringContaining('One other is ahead of it.'),
  })
  expect(world().broker.control.orders()).toEqual([])
})

it('a market order that was sent with a limit, and is not filled at once, holds up no other order', async () => {
  const turns = createTurns({ now: () => 0 })
  const never = () => new Promise(() => undefined)
  const resting = { orderId: 'resting', symbol: 'AAPL', side: 'SELL', limit: { price: 101n } }
  expect(await turns.enter(resting, never)).toBe(true)
  turns.sent(resting.orderId)
  turns.rests(resting.orderId)
  const beyond = { orderId: 'beyond', symbol: 'AAPL', side: 'BUY' }
  expect(await turns.enter(beyond, never)).toBe(true)
  turns.sent(beyond.orderId)
  turns.found(beyond, 100n)
  turns.rests(beyond.orderId)
  expect(await turns.enter({ orderId: 'sale', symbol: 'AAPL', side: 'SELL' }, async () => undefined)).toBe(
    true,
  )
})
