import type { OrderStatus } from '../../src/client/index.js'

const FINAL = new Set<OrderStatus['state']>(['SETTLED', 'REFUNDED'])

/** Whether the order has reached a final state. */
export function hasEnded({ state }: Pick<OrderStatus, 'state'>): boolean {
  return FINAL.has(state)
}
