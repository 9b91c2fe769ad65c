import type { Broker } from '../broker/index.js'

/** The same broker, with `check` before every call. */
export function guardBroker(broker: Broker, check: () => void): Broker {
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check()
      return call(...args)
    }
  return {
    getClock: guarded(broker.getClock),
    getSnapshots: guarded(broker.getSnapshots),
    getAsset: guarded(broker.getAsset),
    placeOrder: guarded(broker.placeOrder),
    getOrderByClientOrderId: guarded(broker.getOrderByClientOrderId),
    getOrders: guarded(broker.getOrders),
    cancelOrder: guarded(broker.cancelOrder),
    getPositions: guarded(broker.getPositions),
    getAccount: guarded(broker.getAccount),
  }
}
