import { BrokerError, type Placement, type SharedBroker } from '../broker/index.js'

/** A broker as one run uses it. */
export interface GuardedBroker extends Omit<SharedBroker, 'close' | 'getAccount' | 'getActivities'> {
  /** How the last call failed; null once one has succeeded. A run reports this even when it finished without the answer. */
  lastFailure(): BrokerError | null
}

/** The same broker, with `check` before every call. */
export function guardBroker(broker: SharedBroker, check: () => void): GuardedBroker {
  let failure: BrokerError | null = null
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check()
      try {
        const answer = await call(...args)
        failure = null
        return answer
      } catch (error) {
        if (error instanceof BrokerError) failure = error
        throw error
      }
    }
  const guardedPlacement = (placement: Placement): Placement => ({
    ...placement,
    send: guarded(placement.send),
    lookUp: guarded(placement.lookUp),
  })
  return {
    lastFailure: () => failure,
    deferUntil: broker.deferUntil,
    async reserve(ask) {
      check()
      const placement = await broker.reserve(ask)
      return placement && guardedPlacement(placement)
    },
    follow: guarded(broker.follow),
    getClock: guarded(broker.getClock),
    getSnapshots: guarded(broker.getSnapshots),
    getAsset: guarded(broker.getAsset),
    getOrderByClientOrderId: guarded(broker.getOrderByClientOrderId),
    getOrders: guarded(broker.getOrders),
    cancelOrder: guarded(broker.cancelOrder),
    getPositions: guarded(broker.getPositions),
  }
}
