// A scenario's beginning, played as often as it is wanted.
import { expect } from 'vitest'
import { clientOrderIdOf } from '../../../src/protocol/identifiers.js'
import type { BrokerStandIn } from '../../../src/simulator/index.js'
import { startStandIn } from '../../support/brokerStandIn.js'
import type { OpenedOrder } from './parties.js'
import { createWorld, SYMBOLS, type World } from './world.js'

export interface Scenario {
  /** Prepares the order. The chain and the books at the broker are carried over. */
  arrange(world: World): Promise<OpenedOrder>
  /** How the broker behaves from here on. */
  broker?(broker: BrokerStandIn): void
  /** Runs in every play before its first run. */
  begin?(world: World, order: OpenedOrder): Promise<void>
  /** How the order must end. */
  outcome: 'settled' | 'refunded' | 'done'
  /** Whether a crash is tried before calls, too, which nothing that lasts has changed since the crash before. */
  everyCall?: boolean
  /** USDC base units that the platform loses. */
  loss?: bigint
}

/** Arranges a scenario once. */
export async function setStage(world: World, scenario: Scenario) {
  const { chain, broker } = world
  const order = await scenario.arrange(world)
  const [books] = broker.control.accounts()
  if (!books) throw new Error('the broker has no books')
  const before = { activities: broker.control.activities(), orders: broker.control.orders() }
  let snapshot: unknown = await chain.provider.send('evm_snapshot', [])
  return {
    order,
    /** Plays from the scenario's beginning; nothing of it is left after it. */
    async perform<T>(act: (world: World) => Promise<T>): Promise<T> {
      const ownBroker = await startStandIn({ symbols: SYMBOLS })
      ownBroker.control.account({ name: 'enclave', cash: books.cash, positions: books.positions })
      scenario.broker?.(ownBroker)
      try {
        const play = createWorld(chain, ownBroker, before)
        await scenario.begin?.(play, order)
        return await act(play)
      } finally {
        await ownBroker.stop()
        await chain.provider.send('evm_revert', [snapshot])
        snapshot = await chain.provider.send('evm_snapshot', [])
      }
    },
  }
}

/** Runs until the order has ended, as the server does, which gives the envelope again. */
export async function resume(world: World, order: OpenedOrder): Promise<string> {
  for (let runs = 0; runs < 8; runs++) {
    const { outcome } = await world.run(order)
    if (outcome === 'settled' || outcome === 'refunded' || outcome === 'done') return outcome
    await world.clock.sleep(60_000)
  }
  throw new Error('the order does not come to its end')
}

/** Reads the state in the end. */
export async function remains(world: World, order: OpenedOrder) {
  const portfolio = await world.portfolio('alice')
  return {
    state: await world.state(order),
    usdc: await world.usdc('alice'),
    tokens: await world.tokens('alice', 'AAPL'),
    // A mishap takes time.
    portfolio: portfolio && { ...portfolio, writtenAt: undefined },
    books: world.broker.control.accounts(),
    orders: world.broker.control
      .orders()
      .map(({ side, qty, notional, status }) => ({ side, qty, notional, status })),
  }
}

/** Either it was filled and is settled, or it was never filled and is refunded; nothing is left of it. */
export async function expectOneEnd(w: World, order: OpenedOrder): Promise<void> {
  const placements = w.broker.control.orders()
  const ids = placements.map(({ client_order_id: id }) => id)
  // One placement, or those of a limit order's days.
  expect(ids).toEqual(ids.map((_, index) => clientOrderIdOf(order.orderId, index)))
  const filled = placements.some(({ filled_qty: quantity }) => Number(quantity) > 0)
  expect(await w.state(order)).toBe(filled ? 'SETTLED' : 'REFUNDED')
  if (Object.keys((await w.portfolio('alice'))?.openOrders ?? {}).length > 0) {
    // A write-ahead that came after its order's refund: any later order of the account clears it away.
    await w.run(await w.open({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: 1n }))
  }
  expect((await w.portfolio('alice'))?.openOrders ?? {}).toEqual({})
  await w.checkInvariants()
}
