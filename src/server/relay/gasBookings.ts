import type { Hex } from '../../protocol/hex.js'
import { createSums, type GasChange, type HeldOrder } from './gasCount.js'

/** Gas booked for held orders: the shared bookings with this server's unstored changes. */
export interface GasBookings {
  of(orderId: Hex): HeldOrder | undefined
  all(): Iterable<HeldOrder>
  /** Booked and not set aside, in total and by account. */
  readonly sums: Pick<ReturnType<typeof createSums>, 'all' | 'of'>
  /** The gas set aside from an order's booking. */
  drawnOf(orderId: Hex): bigint
  draw(orderId: Hex, change: bigint): void
  /**
   * Makes or, with undefined, ends a booking, to be stored with the next version.
   * @param onlyOf ends only the booking that this digest has made
   * @returns a function that undoes it
   */
  book(orderId: Hex, order: HeldOrder | undefined, onlyOf?: Hex): () => void
  /** Takes over a booking as another server's version has it. Later changes of this server stay. */
  merge(orderId: Hex, order: HeldOrder | undefined): void
  /** Takes over one that another server has changed. Its change ends a booking's end that this server has not stored. */
  mergeChange(orderId: Hex, order: HeldOrder | undefined): void
  hasChanges(): boolean
  /** The changes to store. Call `written` once they are. */
  changed(): { readonly held: GasChange['held']; readonly written: () => void }
}

interface Change {
  readonly order: HeldOrder | undefined
  readonly onlyOf: Hex | undefined
}

/** The part of an order's booking that is not set aside. */
export function restOf(order: HeldOrder | undefined, drawn: bigint): bigint {
  const rest = order === undefined ? 0n : order.gas + order.mark - drawn
  return rest > 0n ? rest : 0n
}

export function createGasBookings(): GasBookings {
  const sums = createSums()
  /** As of the last version that this server read or wrote. */
  const shared = new Map<Hex, HeldOrder>()
  const changes = new Map<Hex, Change>()
  /** Changes that were undone. A write without an answer may have stored them. */
  const undone = new WeakSet<Change>()
  const held = new Map<Hex, HeldOrder>()
  const drawn = new Map<Hex, bigint>()

  const drawnOf = (orderId: Hex) => drawn.get(orderId) ?? 0n

  /** Adds or subtracts an order's booking, less the part set aside from it. */
  function count(orderId: Hex, sign: 1n | -1n): void {
    const order = held.get(orderId)
    const rest = restOf(order, drawnOf(orderId))
    if (rest > 0n) sums.add(order?.account, sign * rest)
  }

  /** Applies this server's change, if any, over the shared booking. */
  function apply(orderId: Hex): void {
    const change = changes.get(orderId)
    const known = shared.get(orderId)
    const isChanged = change !== undefined && (change.onlyOf === undefined || change.onlyOf === known?.by)
    count(orderId, -1n)
    set(held, orderId, isChanged ? change.order : known)
    count(orderId, 1n)
  }

  function merge(orderId: Hex, order: HeldOrder | undefined): void {
    set(shared, orderId, order)
    apply(orderId)
  }

  /** An undone change that was stored all the same is ended by the next version. */
  function afterWrite(orderId: Hex, change: Change, order: HeldOrder | undefined): void {
    const now = changes.get(orderId)
    if (now === change) changes.delete(orderId)
    else if (order !== undefined && undone.has(change) && (now === undefined || now.onlyOf !== undefined))
      changes.set(orderId, { order: undefined, onlyOf: order.by })
    merge(orderId, order)
  }

  return {
    of: (orderId) => held.get(orderId),
    all: () => held.values(),
    sums,
    drawnOf,
    draw(orderId, change) {
      count(orderId, -1n)
      const gas = drawnOf(orderId) + change
      set(drawn, orderId, gas === 0n ? undefined : gas)
      count(orderId, 1n)
    },
    book(orderId, order, onlyOf) {
      const before = changes.get(orderId)
      const change = { order, onlyOf }
      changes.set(orderId, change)
      apply(orderId)
      return () => {
        undone.add(change)
        set(changes, orderId, before)
        apply(orderId)
      }
    },
    merge,
    mergeChange(orderId, order) {
      if (changes.get(orderId)?.onlyOf !== undefined) changes.delete(orderId)
      merge(orderId, order)
    },
    hasChanges: () => changes.size > 0,
    changed() {
      const made = [...changes].map(([orderId, change]) => ({ orderId, change, order: held.get(orderId) }))
      return {
        held: made.map(({ orderId, order }) => ({ orderId, order: order ?? null })),
        written() {
          for (const { orderId, change, order } of made) afterWrite(orderId, change, order)
        },
      }
    },
  }
}

function set<V>(map: Map<Hex, V>, key: Hex, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}
