// Who: an employee who holds one base unit of a symbol.
// What it costs: the gas of one order.
// What it did: she withdrew that unit whenever she liked. Each withdrawal forced a batch that made the supply
// equal to the broker's holding, so the chain showed the exact size of a colleague's fill.
// Now: a withdrawal mints only the shortage of the pool. Batches run on their schedule, and wait until several
// accounts have traded the symbol or some days have passed.
import { describe, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld, type World } from '../enclave/support/world.js'
import { usd } from '../support/brokerStandIn.js'
import type { Role } from '../support/roles.js'

const world = useWorld()
const DAY_MS = 86_400_000

async function supply(): Promise<unknown> {
  return world().chain.read('token', 'totalSupply(uint256)', nameToBytes32('AAPL'))
}

async function held(who: Role): Promise<bigint> {
  return (await world().portfolio(who))?.positions.AAPL?.qty ?? 0n
}

function reconcile(batching: { accounts: number; maxDelayMs: number }): ReturnType<World['reconcile']> {
  return world().reconcile({ deps: { batching } })
}

describe('a withdrawal', () => {
  it('mints what the pool is short of, and shows nothing of what others have bought', async () => {
    await world().settled(buy(1_000))
    await world().settled({ ...buy(777), who: 'bob' })
    await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: 1n })
    expect(await supply()).toBe(1n)
  })

  it('has a least amount, but for a whole balance', async () => {
    await world().settled(buy(1_000))
    const limits = { order: 0n, withdrawal: usd(10) }
    const unit = await world().open({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: 1n })
    const refused = await world().run(unit, { deps: { limits } })
    expect(await world().noticeCode(unit, refused)).toBe('below-minimum')
    const all = await held('alice')
    await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: all - 1n })
    const rest = await world().open({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: 1n })
    expect(await world().run(rest, { deps: { limits } })).toMatchObject({ outcome: 'settled' })
  })
})

describe('a batch', () => {
  const batching = { accounts: 2, maxDelayMs: 5 * DAY_MS }

  it('waits until several accounts have traded the symbol', async () => {
    await world().settled(buy(1_000))
    expect(await reconcile(batching)).toEqual({ outcome: 'done' })
    expect(await supply()).toBe(0n)
    await world().settled({ ...buy(500), who: 'bob' })
    expect(await reconcile(batching)).toEqual({ outcome: 'done' })
    expect(await supply()).toBe((await held('alice')) + (await held('bob')))
  })

  it('does not count again who was in the last one', async () => {
    await world().settled(buy(1_000))
    await world().settled({ ...buy(500), who: 'bob' })
    await reconcile(batching)
    const before = await supply()
    await world().settled({ ...buy(300), who: 'bob' })
    await reconcile(batching)
    expect(await supply()).toBe(before)
  })

  it('is made in the end, when nobody else trades', async () => {
    await world().settled(buy(1_000))
    await world().clock.sleep(6 * DAY_MS)
    expect(await reconcile(batching)).toEqual({ outcome: 'done' })
    expect(await supply()).toBe(await held('alice'))
  })
})
