// Actor: an employee who holds one base unit of a symbol.
// Cost: the gas of one order.
// Effect: each withdrawal of that unit forced a batch that made the supply equal to the broker's holding, so the chain showed the exact size of a
// colleague's fill. Batches that waited for company showed it too: the parts of a live order, a fill during the reading, and a
// colleague's fill of today once ten dollars of her own had waited for days.
// Now: a withdrawal mints only the shortage of the pool. Batches run on their schedule. They show fills when several accounts have traded the
// symbol, or when these fills have waited for some days; later fills stay hidden.
import { expect, it } from 'vitest'
import type { SharedBroker } from '../../src/broker/index.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { buy, sell } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { sharedBrokerOf } from '../support/brokerStandIn.js'
import type { Role } from '../support/roles.js'

const world = useWorld()
const DAY_MS = 86_400_000

async function supply(): Promise<bigint> {
  return BigInt(String(await world().chain.read('token', 'totalSupply', nameToBytes32('AAPL'))))
}

async function held(who: Role): Promise<bigint> {
  return (await world().portfolio(who))?.positions.AAPL?.qty ?? 0n
}

const batching = { accounts: 2, maxDelayMs: 5 * DAY_MS }
const AT_ONCE = { accounts: 1, maxDelayMs: 0 }

const reconcile = (when: typeof batching, broker = sharedBrokerOf(world().broker.url)) =>
  world().reconcile({ deps: { batching: when, broker } })

/** When the last fill was, in Unix milliseconds. */
function lastFill(): number {
  const filled = world().broker.control.orders()
  return Math.max(...filled.map(({ filled_at }) => Date.parse(filled_at ?? '')))
}

/** A delay after which what was filled before this time is old, and nothing else, however the clock goes on. */
async function waitedSince(time: number): Promise<typeof batching> {
  await world().clock.sleep(60_000)
  return {
    accounts: 3,
    get maxDelayMs() {
      return world().clock.now() - time
    },
  }
}

/** A broker that fills something right before the call of this number for orders or positions. */
function fillingBefore(call: number, trade: () => Promise<unknown>): SharedBroker {
  const broker = sharedBrokerOf(world().broker.url)
  let calls = 0
  const counted =
    <A extends unknown[], R>(read: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      calls += 1
      if (calls === call) await trade()
      return read(...args)
    }
  return { ...broker, getOrders: counted(broker.getOrders), getPositions: counted(broker.getPositions) }
}

it('a withdrawal mints what the pool is short of, and shows nothing of what others have bought', async () => {
  await world().settled(buy(1_000))
  await world().settled({ ...buy(777), who: 'bob' })
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: 1n })
  expect(await supply()).toBe(1n)
})

it('a batch waits until several accounts have traded the symbol', async () => {
  await world().settled(buy(1_000))
  expect(await reconcile(batching)).toEqual({ outcome: 'done' })
  expect(await supply()).toBe(0n)
  await world().settled({ ...buy(500), who: 'bob' })
  expect(await reconcile(batching)).toEqual({ outcome: 'done' })
  expect(await supply()).toBe((await held('alice')) + (await held('bob')))
})

it('a batch does not count again who was in the last one', async () => {
  await world().settled(buy(1_000))
  await world().settled({ ...buy(500), who: 'bob' })
  await reconcile(batching)
  const before = await supply()
  await world().settled({ ...buy(300), who: 'bob' })
  await reconcile(batching)
  expect(await supply()).toBe(before)
})

it('a batch is made in the end, when no other employee trades', async () => {
  await world().settled(buy(1_000))
  await world().clock.sleep(6 * DAY_MS)
  expect(await reconcile(batching)).toEqual({ outcome: 'done' })
  expect(await supply()).toBe(await held('alice'))
})

it.each(['filled', 'canceled'])(
  'a batch does not show what an older order fills in parts, until it is %s',
  async (end) => {
    const { control } = world().broker
    control.fill(
      end === 'filled' ? { mode: 'hold', times: 1 } : { mode: 'partial', fraction: '0.4', times: 1 },
    )
    // Live while a batch shows what she and Bob have bought besides.
    const big = await world().open(buy(5_000))
    expect(await world().run(big)).toMatchObject({ outcome: 'placed' })
    await world().settled(buy(500))
    await world().settled({ ...buy(300), who: 'bob' })
    await reconcile(batching)
    const before = await supply()
    expect(before).toBe((await held('alice')) + (await held('bob')))
    if (end === 'filled') {
      control.release({ fraction: '0.4' })
      await reconcile(batching)
      expect(await supply()).toBe(before)
      control.release({})
    } else control.end({ status: 'canceled' })
    expect(await world().run(big)).toMatchObject({ outcome: 'settled' })
    await reconcile(batching)
    expect(await supply()).toBe(before)
    await world().settled({ ...buy(100), who: 'bob' })
    await reconcile(batching)
    expect(await supply()).toBe((await held('alice')) + (await held('bob')))
  },
)

it.each([1, 2, 3, 4])(
  'a batch does not show what is filled during its reading, before call %i',
  async (call) => {
    await world().settled(buy(500))
    await world().settled({ ...buy(300), who: 'bob' })
    const [alice, bob] = [await held('alice'), await held('bob')]
    await reconcile(
      batching,
      fillingBefore(call, () => world().settled({ ...buy(777), who: 'bob' })),
    )
    const first = await supply()
    await reconcile(batching)
    const lone = (await held('bob')) - bob
    expect(lone).toBeGreaterThan(0n)
    expect([0n, alice + bob, alice + bob + lone]).toContain(first)
    expect([first, (await supply()) - first]).not.toContain(lone)
    await world().checkInvariants()
  },
)

it.each([1, 2, 3, 4])(
  'a batch does not show what is sold during its reading, before call %i',
  async (call) => {
    await world().settled({ ...buy(300), who: 'bob' })
    await reconcile(AT_ONCE)
    const before = await supply()
    await world().settled(buy(100))
    const late = await waitedSince(lastFill() + 1)
    const bob = await held('bob')
    const sale = () => world().settled({ ...sell(20), who: 'bob' })
    expect(await reconcile(late, fillingBefore(call, sale))).toEqual({ outcome: 'done' })
    expect(await held('bob')).toBeLessThan(bob)
    expect([before, before + (await held('alice'))]).toContain(await supply())
  },
)

it('a batch does not show a fill of today because ten dollars have waited for days', async () => {
  await world().settled(buy(10))
  await world().settled({ ...buy(7_777), who: 'bob' })
  const late = await waitedSince(lastFill())
  await reconcile(late)
  expect(await supply()).toBe(await held('alice'))
  await reconcile(late)
  expect(await supply()).toBe(await held('alice'))
})

it('a batch does not burn a sale of today because ten dollars have waited for days', async () => {
  await world().settled({ ...buy(7_777), who: 'bob' })
  await reconcile(AT_ONCE)
  const before = await supply()
  await world().settled(buy(10))
  await world().settled({ ...sell(5_000), who: 'bob' })
  await reconcile(await waitedSince(lastFill()))
  expect(await supply()).toBe(before + (await held('alice')))
})

it('a batch does not show a difference that a recent order may explain, and shows it with company', async () => {
  await world().settled(buy(500))
  await reconcile(AT_ONCE)
  const before = await supply()
  world().broker.control.account({ name: 'enclave', positions: { AAPL: '9' } })
  await reconcile(batching)
  expect(await supply()).toBe(before)
  await world().settled(buy(200))
  await world().settled({ ...buy(200), who: 'bob' })
  await reconcile(batching)
  expect(await supply()).toBe((await held('alice')) + (await held('bob')) + 9_000_000_000n - before)
})

it('a batch does not say when the last fill was', async () => {
  await world().settled(buy(1_000))
  await reconcile(AT_ONCE)
  const counted = Number(await world().chain.read('pool', 'countedUntil', nameToBytes32('AAPL')))
  expect(counted).toBeGreaterThan(lastFill())
})
