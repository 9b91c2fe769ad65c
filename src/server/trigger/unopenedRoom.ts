import type { Hex } from '../../protocol/hex.js'

/** An envelope without an open escrow, as far as it takes room. */
export interface Occupant {
  /** Who posted it: see `clientOf`. */
  readonly client: string
  /** By which it made its order's file longer. */
  readonly bytes: number
}

/** Why there is no room: for anybody's order, or for this client. */
export type NoRoom = 'full' | 'client-full'

export interface RoomLimits {
  /** Orders of all clients. */
  readonly maxOrders: number
  /** Envelopes of one client. */
  readonly maxPerClient: number
  /** Bytes of one client's envelopes. */
  readonly maxBytesPerClient: number
}

/**
 * Room for envelopes whose escrow is not known to be open. Anyone can post those for nothing, so that one client gets
 * only a part of it. Who posted what is known while the process lives, and written nowhere: after a restart what is
 * stored counts for all.
 */
export interface UnopenedRoom {
  /** Undefined when there is room for another envelope. */
  refusal(orderId: Hex, occupant: Occupant): NoRoom | undefined
  /** @returns gives back what was taken, unless the order has left meanwhile */
  take(orderId: Hex, occupant: Occupant): () => void
  /** An order that was stored by an earlier process. */
  hold(orderId: Hex): void
  /** The order needs no room any more. */
  leave(orderId: Hex): void
}

interface Share {
  envelopes: number
  bytes: number
}

export function createUnopenedRoom(limits: RoomLimits): UnopenedRoom {
  const orders = new Map<Hex, Set<Occupant>>()
  const shares = new Map<string, Share>()

  function giveBack({ client, bytes }: Occupant): void {
    const share = shares.get(client)
    if (share === undefined) return
    share.envelopes--
    share.bytes -= bytes
    if (share.envelopes === 0) shares.delete(client)
  }

  function occupantsOf(orderId: Hex): Set<Occupant> {
    const known = orders.get(orderId)
    if (known !== undefined) return known
    const fresh = new Set<Occupant>()
    orders.set(orderId, fresh)
    return fresh
  }

  return {
    refusal(orderId, { client, bytes }) {
      if (!orders.has(orderId) && orders.size >= limits.maxOrders) return 'full'
      const share = shares.get(client)
      if (share === undefined) return undefined
      const isTooMuch = share.bytes + bytes > limits.maxBytesPerClient
      return isTooMuch || share.envelopes >= limits.maxPerClient ? 'client-full' : undefined
    },
    take(orderId, { client, bytes }) {
      // Of two that are alike, each is one.
      const occupant = { client, bytes }
      occupantsOf(orderId).add(occupant)
      const share = shares.get(client) ?? { envelopes: 0, bytes: 0 }
      shares.set(client, share)
      share.envelopes++
      share.bytes += bytes
      return () => {
        const occupants = orders.get(orderId)
        if (occupants?.delete(occupant) !== true) return
        giveBack(occupant)
        if (occupants.size === 0) orders.delete(orderId)
      }
    },
    hold: occupantsOf,
    leave(orderId) {
      for (const occupant of orders.get(orderId) ?? []) giveBack(occupant)
      orders.delete(orderId)
    },
  }
}
