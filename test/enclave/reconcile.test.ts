import { expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { shares } from '../support/brokerStandIn.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()

async function supply(symbol: string): Promise<unknown> {
  return world().chain.read('token', 'totalSupply', nameToBytes32(symbol))
}

const holds = (positions: Record<string, string>) =>
  world().broker.control.account({ name: 'enclave', positions })

it('reconciling makes the supply what the broker holds, in one batch a symbol', async () => {
  await world().settled(buy(1_000))
  await world().settled({ ...buy(500), who: 'bob' })
  await world().settled({ ...buy(500), symbol: 'MSFT' })
  expect(await world().reconcile()).toEqual({ outcome: 'done' })
  const positions = [await world().portfolio('alice'), await world().portfolio('bob')]
  const held = positions.reduce((sum, portfolio) => sum + (portfolio?.positions.AAPL?.qty ?? 0n), 0n)
  expect(await supply('AAPL')).toBe(held)
  const batches = world().relay.posted.filter(({ primaryType }) => primaryType.startsWith('Batch'))
  expect(batches.map(({ primaryType }) => primaryType)).toEqual(['BatchMint', 'BatchMint'])
  await world().settled(sell(400))
  expect(await world().reconcile()).toEqual({ outcome: 'done' })
  expect(world().relay.posted.at(-1)?.primaryType).toBe('BatchBurn')
  await world().checkInvariants()
})

it('reconciling burns only what the pool holds: withdrawn shares stay', async () => {
  await world().settled(buy(1_000))
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(2) })
  holds({ AAPL: '1' })
  await world().reconcile()
  expect(await supply('AAPL')).toBe(shares(2))
  holds({})
  await world().reconcile()
  expect(await supply('AAPL')).toBe(shares(2))
})

it('reconciling reads again when another run was first', async () => {
  holds({ AAPL: '5' })
  const both = await Promise.all([world().reconcile(), world().reconcile()])
  expect(both).toEqual([{ outcome: 'done' }, { outcome: 'done' }])
  expect(await supply('AAPL')).toBe(shares(5))
})
