import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../../service/logger.js'
import { inBatches } from '../async/inBatches.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { StorageError } from '../store/storageError.js'

/**
 * Stored orders whose escrow no event has shown. The escrow itself is asked for them: whatever kept the event from
 * being seen, the order runs. As anyone can post envelopes for escrows that never open, those without one are
 * counted, and expire.
 */
export interface UnopenedOrders {
  /** An envelope of it was stored here and now: until its escrow is seen, the order takes room. */
  note(orderId: Hex): void
  /** It is stored, and perhaps another server took it in. @param takesRoom whether it counts against this server's room */
  noteStored(orderId: Hex, takesRoom: boolean): void
  /** How many there are. */
  count(): number
  /**
   * Asks once for each that was noted, and again when it expires; with pauses while this server reads no events. One whose
   * record fails is logged and left for later.
   * @throws ChainUnavailableError, ChainAnswerError; repeatable then
   */
  check(): Promise<void>
}

/** Reads that travel as one request. */
const BATCH = 100

/** Before an order is asked for again where no event shows that it was opened: doubled each time, up to the longest. */
const ASK_AGAIN_MS = 30_000
const ASK_AGAIN_MAX_MS = 10 * 60_000

interface Noted {
  /** Unix milliseconds of its newest envelope; 0 when only its record tells. */
  readonly storedAt: number
  /** The latest question to the escrow. @property againAt milliseconds of `performance.now()` */
  readonly asked: { readonly againAt: number; readonly pauseMs: number } | undefined
}

function askedNow({ storedAt, asked }: Noted): Noted {
  const pauseMs = asked === undefined ? ASK_AGAIN_MS : Math.min(asked.pauseMs * 2, ASK_AGAIN_MAX_MS)
  return { storedAt, asked: { againAt: performance.now() + pauseMs, pauseMs } }
}

export function createUnopenedOrders(options: {
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly records: Pick<OrderRecords, 'expire'>
  /** Milliseconds that an envelope is kept without an escrow. */
  readonly expiryMs: number
  readonly room: Pick<UnopenedRoom, 'hold' | 'leave'>
  readonly isSeen: (orderId: Hex) => boolean
  /** Whether this server reads the escrow's events: else it has to ask again and again. */
  readonly readsEvents: () => boolean
  readonly logger: Logger
  readonly onFound: (found: Omit<OpenedOrder, 'position'>, state: EscrowedOrder['state']) => Promise<void>
}): UnopenedOrders {
  const { escrow, records, expiryMs, room, isSeen, readsEvents, logger, onFound } = options
  const noted = new Map<Hex, Noted>()

  /** Whose failing was told. */
  const failing = new Set<Hex>()

  function forget(orderId: Hex): void {
    noted.delete(orderId)
    failing.delete(orderId)
    room.leave(orderId)
  }

  async function ask(orderId: Hex): Promise<void> {
    const cutoff = Date.now() - expiryMs
    const before = noted.get(orderId)
    const { account, commit, state } = await escrow.orders(orderId)
    // Meanwhile an event has come, or another envelope.
    if (before === undefined || noted.get(orderId) !== before) return
    if (state === 'NONE' && before.storedAt >= cutoff) {
      noted.set(orderId, askedNow(before))
    } else if (state === 'NONE') {
      const newest = await records.expire(orderId, cutoff)
      if (newest === undefined) forget(orderId)
      else noted.set(orderId, askedNow({ storedAt: newest, asked: before.asked }))
    } else {
      if (!isSeen(orderId)) await onFound({ orderId, account, commit }, state)
      forget(orderId)
    }
  }

  /** One whose record fails is asked for again with the next look, and holds up no other. */
  async function askUnlessUnreadable(orderId: Hex): Promise<void> {
    try {
      await ask(orderId)
      failing.delete(orderId)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (failing.has(orderId)) return
      failing.add(orderId)
      logger.error('order without an escrow left for later: its record fails', {
        recordId: orderId,
        ...describeError(error),
      })
    }
  }

  return {
    note(orderId) {
      noted.set(orderId, { storedAt: Date.now(), asked: undefined })
      room.hold(orderId)
    },
    noteStored(orderId, takesRoom) {
      if (noted.has(orderId)) return
      noted.set(orderId, { storedAt: 0, asked: undefined })
      if (takesRoom) room.hold(orderId)
    },
    count: () => noted.size,
    async check() {
      const cutoff = Date.now() - expiryMs
      const due: Hex[] = []
      for (const [orderId, { storedAt, asked }] of noted) {
        const isDue = asked === undefined || (!readsEvents() && performance.now() >= asked.againAt)
        if (isSeen(orderId)) forget(orderId)
        else if (isDue || storedAt < cutoff) due.push(orderId)
      }
      await inBatches(due, BATCH, askUnlessUnreadable)
    },
  }
}

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
