import { afterEach, beforeEach } from 'vitest'
import type { BrokerStandIn } from '../../src/simulator/index.js'
import { brokerOf, type PlacingBroker, startStandIn } from '../support/brokerStandIn.js'

/** A stand-in for each test of a file, and the client of its account. */
export function useStandIn() {
  let current: { readonly standIn: BrokerStandIn; readonly broker: PlacingBroker } | undefined
  function inTest() {
    if (current === undefined) throw new Error('the stand-in runs in a test')
    return current
  }
  beforeEach(async () => {
    const standIn = await startStandIn()
    current = { standIn, broker: brokerOf(standIn.url) }
  })
  afterEach(() => inTest().standIn.stop())
  return {
    standIn: () => inTest().standIn,
    broker: () => inTest().broker,
    buy: (clientOrderId: string, notional: bigint, symbol = 'AAPL') =>
      inTest().broker.placeOrder({ symbol, side: 'buy', notional, clientOrderId }),
    sell: (clientOrderId: string, qty: bigint, symbol = 'AAPL') =>
      inTest().broker.placeOrder({ symbol, side: 'sell', qty, clientOrderId }),
    async read(clientOrderId: string) {
      const order = await inTest().broker.getOrderByClientOrderId(clientOrderId)
      if (!order) throw new Error(`no order ${clientOrderId}`)
      return order
    },
  }
}
