import type { OrderStatus } from '../../src/client/index.js'

const FINAL = new Set<OrderStatus['state']>(['SETTLED', 'REFUNDED'])

/** Whether nothing becomes of the order any more. */
export function hasEnded({ state }: Pick<OrderStatus, 'state'>): boolean {
  return FINAL.has(state)
}
