import type { Hex } from '../../../../src/protocol/hex.js'
import { MAX_CANDIDATES } from '../../../../src/server/store/orderRecords.js'
import { type OwnedOrder, owned } from './market.js'

/** The answer that a post must get. */
export interface Expected {
  readonly result: 'received' | 'already-received'
  readonly commit: Hex
}

/** The state of the orders by the rules alone. */
export interface Model {
  /** By orderId: the commits of the stored envelopes, in their order. */
  readonly stored: Map<Hex, readonly Hex[]>
  /** Orders whose owner was answered with the commit of the right envelope. */
  readonly acknowledged: Set<Hex>
  /** Posts that were not answered with a 202. */
  readonly refused: string[]
}

export function emptyModel(): Model {
  const orders = Object.values(owned)
  return { stored: new Map(orders.map(({ orderId }) => [orderId, []])), acknowledged: new Set(), refused: [] }
}

/** Takes an envelope in by the rules: the escrow's commit decides, and never who came first. */
export function takeIn(model: Model, order: OwnedOrder, offered: Hex, isVisible: boolean): Expected {
  const { orderId, commit } = order
  const stored = model.stored.get(orderId) ?? []
  const [first] = stored
  const keep = (commits: readonly Hex[]): Expected => {
    model.stored.set(orderId, commits)
    return { result: 'received', commit: offered }
  }
  if (first === undefined) return keep([offered])
  if (stored.includes(offered)) return { result: 'already-received', commit: offered }
  if (!isVisible) {
    const hasRoom = stored.length < MAX_CANDIDATES
    return hasRoom ? keep([...stored, offered]) : { result: 'already-received', commit: first }
  }
  if (stored.includes(commit)) return { result: 'already-received', commit }
  return offered === commit ? keep([offered]) : { result: 'already-received', commit: first }
}
