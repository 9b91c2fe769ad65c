import type { EscrowedOrder } from '../../chain/contracts.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { inBatches } from '../../service/waiting.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { BATCH, createRecordAttempts } from './recovery.js'

/**
 * Stored orders whose escrow no event has shown. Their escrows are read directly, so an order runs even if its event was
 * missed. Any client can post envelopes for escrows that never open, so those are counted, and expire.
 */
export type UnopenedOrders = ReturnType<typeof createUnopenedOrders>

/** Pause before an escrow is read again where this server reads no events. */
const ASK_AGAIN_MS = 5 * 60_000

interface Noted {
  /** Unix milliseconds of its newest envelope; 0 when only its record has them. */
  readonly storedAt: number
  /** When the escrow is read again, in milliseconds of `performance.now()`. Undefined before its first read. */
  readonly againAt?: number
}

export function createUnopenedOrders(options: {
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly records: Pick<OrderRecords, 'expire'>
  /** Milliseconds that an envelope is kept without an escrow. */
  readonly expiryMs: number
  readonly room: Pick<UnopenedRoom, 'hold' | 'leave'>
  readonly isSeen: (orderId: Hex) => boolean
  /** Whether this server reads the escrow's events; without them it has to read escrows repeatedly. */
  readonly readsEvents: () => boolean
  readonly logger: Logger
  readonly onFound: (found: Omit<OpenedOrder, 'position'>, state: EscrowedOrder['state']) => Promise<void>
}) {
  const { escrow, records, expiryMs, room, isSeen, readsEvents, logger, onFound } = options
  const noted = new Map<Hex, Noted>()
  const attempt = createRecordAttempts('envelope check deferred: its record fails', logger)

  function forget(orderId: Hex): void {
    noted.delete(orderId)
    room.leave(orderId)
  }

  async function ask(orderId: Hex): Promise<void> {
    const cutoff = Date.now() - expiryMs
    const before = noted.get(orderId)
    const { account, commit, state } = await escrow.orders(orderId)
    // An event or another envelope has come in between.
    if (before === undefined || noted.get(orderId) !== before) return
    if (state === 'NONE' && before.storedAt >= cutoff) {
      noted.set(orderId, { ...before, againAt: performance.now() + ASK_AGAIN_MS })
    } else if (state === 'NONE') {
      const newest = await records.expire(orderId, cutoff)
      if (newest === undefined) forget(orderId)
      else noted.set(orderId, { storedAt: newest, againAt: performance.now() + ASK_AGAIN_MS })
    } else {
      if (!isSeen(orderId)) await onFound({ orderId, account, commit }, state)
      forget(orderId)
    }
  }

  return {
    /** An envelope was just stored here: until its escrow is seen, the order counts against the quota. */
    note(orderId: Hex) {
      noted.set(orderId, { storedAt: Date.now() })
      room.hold(orderId)
    },
    /** The order is stored, perhaps by another server. @param takesRoom whether it counts against this server's quota */
    noteStored(orderId: Hex, takesRoom: boolean) {
      if (noted.has(orderId)) return
      noted.set(orderId, { storedAt: 0 })
      if (takesRoom) room.hold(orderId)
    },
    count: () => noted.size,
    /**
     * Reads the escrow of each new order once, and again at its expiry; repeatedly while this server reads no events. An order
     * whose record fails is logged and deferred.
     * @throws ChainUnavailableError, ChainAnswerError; repeatable then
     */
    async check() {
      const cutoff = Date.now() - expiryMs
      const due: Hex[] = []
      for (const [orderId, { storedAt, againAt }] of noted) {
        const isDue = againAt === undefined || (!readsEvents() && performance.now() >= againAt)
        if (isSeen(orderId)) forget(orderId)
        else if (isDue || storedAt < cutoff) due.push(orderId)
      }
      await inBatches(due, BATCH, (orderId) => attempt(orderId, () => ask(orderId)))
    },
  }
}

/** An envelope without an open escrow. */
interface Occupant {
  /** Its poster: see `clientOf`. */
  readonly client: string
  /** Bytes that it added to its order's record. */
  readonly bytes: number
}

/** The quota that is used up: that of all orders, or this client's. */
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
 * The quota of envelopes whose escrow is not known to be open. Any client can post those without cost, so one client gets
 * only a part of it. Posters are kept in memory only: after a restart, stored envelopes count for all.
 */
export type UnopenedRoom = ReturnType<typeof createUnopenedRoom>

export function createUnopenedRoom(limits: RoomLimits) {
  const orders = new Map<Hex, Set<Occupant>>()

  function occupantsOf(orderId: Hex): Set<Occupant> {
    const known = orders.get(orderId)
    if (known !== undefined) return known
    const fresh = new Set<Occupant>()
    orders.set(orderId, fresh)
    return fresh
  }

  return {
    /** Undefined when there is room for another envelope. */
    refusal(orderId: Hex, { client, bytes }: Occupant): NoRoom | undefined {
      if (!orders.has(orderId) && orders.size >= limits.maxOrders) return 'full'
      let envelopes = 0
      let used = 0
      for (const occupants of orders.values()) {
        for (const occupant of occupants) {
          if (occupant.client !== client) continue
          envelopes++
          used += occupant.bytes
        }
      }
      if (envelopes === 0) return undefined
      const isTooMuch = used + bytes > limits.maxBytesPerClient
      return isTooMuch || envelopes >= limits.maxPerClient ? 'client-full' : undefined
    },
    /** @returns a function that gives the room back, unless the order has left */
    take(orderId: Hex, { client, bytes }: Occupant): () => void {
      // A new object, because two equal envelopes count twice.
      const occupant = { client, bytes }
      const occupants = occupantsOf(orderId)
      occupants.add(occupant)
      return () => {
        if (occupants.delete(occupant) && occupants.size === 0 && orders.get(orderId) === occupants)
          orders.delete(orderId)
      }
    },
    /** An order that was stored by an earlier process. */
    hold(orderId: Hex) {
      occupantsOf(orderId)
    },
    /** The order needs no room any more. */
    leave: (orderId: Hex) => void orders.delete(orderId),
  }
}
