import { expect, it } from 'vitest'
import type { RelayAnswer } from '../../src/enclave/relay.js'
import { usd } from '../support/brokerStandIn.js'
import { posting } from './support/chainRelay.js'
import { ENCLAVE_KEYS } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()

const reverted = (name: string): RelayAnswer => ({ kind: 'reverted', revert: { name, args: {} } })

it('a conflict makes the run begin again and compute everything anew', async () => {
  const order = await world().open(buy(250))
  world().relay.faults.push(reverted('VersionConflict'), reverted('OrderNotOpen'))
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(world().relay.posted.map(({ primaryType }) => primaryType)).toEqual([
    'PortfolioUpdate',
    'PortfolioUpdate',
    'PortfolioUpdate',
    'OrderSettlement',
  ])
  expect(world().broker.control.orders()).toHaveLength(1)
})

it('a conflict that does not end makes the run fail after five more times', async () => {
  const order = await world().open(buy(250))
  world().relay.faults.push(...Array<RelayAnswer>(20).fill(reverted('VersionConflict')))
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'conflict' })
  expect(world().relay.posted).toHaveLength(6)
})

it('a conflict between two runs of one account ends with both orders right', async () => {
  await world().settled(buy(1_000))
  const first = await world().open(sell(300))
  const second = await world().open({ ...buy(200), symbol: 'MSFT' })
  // The later order's nonce is above the earlier one's: were it written first, the earlier one would be refused.
  const { promise: wrote, resolve } = Promise.withResolvers<void>()
  const ahead = posting(world().relay, (post) => (sent) => post(sent).finally(resolve))
  const behind = posting(world().relay, (post) => (sent) => wrote.then(() => post(sent)))
  const both = await Promise.all([
    world().run(first, { deps: { relay: ahead } }),
    world().run(second, { deps: { relay: behind } }),
  ])
  expect(both).toMatchObject([{ outcome: 'settled' }, { outcome: 'settled' }])
  const portfolio = await world().portfolio('alice')
  expect(portfolio?.cash).toBeGreaterThan(usd(299))
  expect(portfolio?.positions.MSFT?.qty).toBeGreaterThan(0n)
  await world().checkInvariants()
})

it('the relay’s word is not believed when it says that something was confirmed', async () => {
  const order = await world().open(buy(250))
  world().relay.faults.push(...Array<RelayAnswer>(1_000).fill({ kind: 'taken' }))
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'out-of-time' })
  expect(world().broker.control.orders()).toEqual([])
})

it('the relay’s word is not believed when it says that what the chain has taken was refused', async () => {
  const order = await world().open(buy(250))
  const relay = posting(world().relay, (post) => async (sent) => {
    await post(sent)
    return reverted('VersionConflict')
  })
  expect(await world().run(order, { deps: { relay } })).toMatchObject({ outcome: 'settled' })
})

it('the relay’s word of another revert, a wrong token or no answer at all makes the run fail', async () => {
  const order = await world().open(buy(250))
  const cases: [RelayAnswer, string][] = [
    [reverted('InvalidSigner'), 'reverted'],
    [{ kind: 'refused' }, 'relay-refused'],
    [{ kind: 'unavailable' }, 'relay-unavailable'],
  ]
  for (const [answer, code] of cases) {
    world().relay.faults.splice(0, 3, ...Array<RelayAnswer>(3).fill(answer))
    expect(await world().run(order)).toEqual({ outcome: 'failed', code })
  }
  world().relay.faults.length = 0
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})

it('a ledger that does not open is never taken for an empty portfolio', async () => {
  await world().settled(buy(250))
  const order = await world().open(buy(250))
  const ledgerKey = () => new Uint8Array(32).fill(9)
  const deps = { keys: { ...ENCLAVE_KEYS, ledgerKey } }
  expect(await world().run(order, { deps })).toEqual({ outcome: 'failed', code: 'ledger-unreadable' })
  expect(await world().state(order)).toBe('OPEN')
})
