import type { EscrowedOrder } from '../../chain/contracts.js'
import type { Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { inBatches } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import type { OpenedOrder } from '../escrow/escrowLogs.js'
import { noteUse } from '../limitUse.js'
import type { OrderRecords } from '../store/orderRecords.js'
import { BATCH, createRecordAttempts } from './recovery.js'

/**
 * Stored orders whose escrow no event has shown. Their escrows are read directly, so an order runs even if its event was
 * missed. Any client can post envelopes for escrows that never open, so those are counted, and expire.
 */
export type UnopenedOrders = ReturnType<typeof createUnopenedOrders>

/** Pause before an escrow is read again where this server reads no events. */
const ASK_AGAIN_MS = 5 * 60_000

export function createUnopenedOrders(options: {
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly records: Pick<OrderRecords, 'expire'>
  /** Milliseconds that an envelope is kept without an escrow. */
  readonly expiryMs: number
  readonly room: Pick<UnopenedRoom, 'reserveStored' | 'free'>
  readonly isSeen: (orderId: Hex) => boolean
  /** Whether this server reads the escrow's events; without them it has to read escrows repeatedly. */
  readonly readsEvents: () => boolean
  readonly logger: Logger
  readonly onFound: (found: Omit<OpenedOrder, 'position'>, state: EscrowedOrder['state']) => Promise<void>
}) {
  const { escrow, records, expiryMs, room, isSeen, readsEvents, logger, onFound } = options
  /**
   * Maps ids to the Unix milliseconds of the newest envelope (0 when only the record has them) and to the time of the escrow's next read, in
   * milliseconds of `performance.now()`: undefined before the first.
   */
  const noted = new Map<Hex, { readonly storedAt: number; readonly againAt?: number }>()
  const attempt = createRecordAttempts('envelope check deferred: its record fails', logger)

  function forget(orderId: Hex): void {
    noted.delete(orderId)
    room.free(orderId)
  }

  async function ask(orderId: Hex): Promise<void> {
    const cutoff = Date.now() - expiryMs
    const before = noted.get(orderId)
    const { account, commit, state } = await escrow.orders(orderId)
    // An event or another envelope has come in between.
    if (before === undefined || noted.get(orderId) !== before) return
    if (state === 'NONE') {
      const isOld = before.storedAt < cutoff
      const storedAt = isOld ? await records.expire(orderId, cutoff) : before.storedAt
      if (storedAt === undefined) return forget(orderId)
      noted.set(orderId, { storedAt, againAt: performance.now() + ASK_AGAIN_MS })
      return
    }
    if (!isSeen(orderId)) await onFound({ orderId, account, commit }, state)
    forget(orderId)
  }

  return {
    /** An envelope was just stored here: until its escrow is seen, the order counts against the quota. */
    note(orderId: Hex) {
      noted.set(orderId, { storedAt: Date.now() })
      room.reserveStored(orderId)
    },
    /** The order is stored, perhaps by another server. @param countsHere whether it counts against this server's quota */
    noteStored(orderId: Hex, countsHere: boolean) {
      if (noted.has(orderId)) return
      noted.set(orderId, { storedAt: 0 })
      if (countsHere) room.reserveStored(orderId)
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

interface Occupant {
  /** Its poster: see `clientOf`. */
  readonly client: string
  readonly bytes: number
}

/** The quota that is used up: that of all orders, or this client's. */
export type NoRoom = 'full' | 'client-full'

/**
 * The quota of envelopes whose escrow is not known to be open. Any client can post those without cost, so one client gets
 * only a part of it. Posters are kept in memory only: after a restart, stored envelopes count for all.
 */
export type UnopenedRoom = ReturnType<typeof createUnopenedRoom>

export function createUnopenedRoom(
  limits: Pick<Config['unopened'], 'maxOrders' | 'maxPerClient' | 'maxBytesPerClient'>,
) {
  const orders = new Map<Hex, Set<Occupant>>()
  const clients = new Map<string, { readonly envelopes: number; readonly bytes: number }>()

  function count({ client, bytes }: Occupant, envelopes: 1 | -1): void {
    const before = clients.get(client) ?? { envelopes: 0, bytes: 0 }
    const after = { envelopes: before.envelopes + envelopes, bytes: before.bytes + envelopes * bytes }
    if (after.envelopes === 0) clients.delete(client)
    else clients.set(client, after)
    noteUse(
      'envelopes',
      Math.max(after.envelopes / limits.maxPerClient, after.bytes / limits.maxBytesPerClient),
    )
  }

  function free(orderId: Hex): void {
    for (const occupant of orders.get(orderId) ?? []) count(occupant, -1)
    orders.delete(orderId)
  }

  return {
    /** Undefined when there is room for another envelope. */
    refusal(orderId: Hex, { client, bytes }: Occupant): NoRoom | undefined {
      if (!orders.has(orderId) && orders.size >= limits.maxOrders) return 'full'
      const own = clients.get(client)
      if (own === undefined) return undefined
      const isTooMuch = own.bytes + bytes > limits.maxBytesPerClient
      return isTooMuch || own.envelopes >= limits.maxPerClient ? 'client-full' : undefined
    },
    /** @returns the rollback, which does nothing once the order needs no room */
    reserve(orderId: Hex, { client, bytes }: Occupant): () => void {
      // A new object, because two equal envelopes count twice.
      const occupant = { client, bytes }
      const occupants = orders.get(orderId) ?? new Set()
      orders.set(orderId, occupants.add(occupant))
      count(occupant, 1)
      return () => {
        if (orders.get(orderId) !== occupants || !occupants.delete(occupant)) return
        count(occupant, -1)
        if (occupants.size === 0) orders.delete(orderId)
      }
    },
    /** Reserves for a stored order, whose posters may not be known. */
    reserveStored(orderId: Hex) {
      if (!orders.has(orderId)) orders.set(orderId, new Set())
    },
    free,
  }
}
