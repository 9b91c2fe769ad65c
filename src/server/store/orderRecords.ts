import { z } from 'zod'
import { triggerSchema } from '../../protocol/api.js'
import { orderEnvelopeSchema } from '../../protocol/envelope.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { createKeyedLock } from '../../service/keyedLock.js'
import type { Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createOpenIds } from './openIds.js'
import { createFileRecordStore } from './recordStore.js'

/** Envelopes kept under one orderId while its escrow is not visible: anyone can post junk under it first. */
export const MAX_CANDIDATES = 8
/** An order has one authorization to end it, or a few when others of its account come between. */
const MAX_DIGESTS = 20

const timeSchema = z.iso.datetime()

/**
 * An envelope as it was let in. Whether `epk` is a point on the curve was checked at the door, which takes longer than
 * everything else about it, and is checked again by whoever opens it.
 */
const storedEnvelopeSchema = z.strictObject({ ...orderEnvelopeSchema.shape, epk: hexBetween(33, 65) })

const candidateSchema = z.strictObject({
  envelope: storedEnvelopeSchema,
  /** `keccak256(ct)`. */
  commit: bytes32Schema,
  receivedAt: timeSchema,
})
export type Candidate = z.output<typeof candidateSchema>

const orderRecordSchema = z.strictObject({
  orderId: bytes32Schema,
  /** Oldest first; once a run had an envelope, only that one. Empty for an order known only from the chain. */
  candidates: z.array(candidateSchema).max(MAX_CANDIDATES),
  /** The escrow's, once seen. */
  escrowCommit: bytes32Schema.nullable(),
  /** The latest runs, oldest first. */
  triggers: z.array(triggerSchema),
  nextTriggerAt: timeSchema.nullable(),
  /** Why it was refused, sealed to the employee. */
  notice: storedEnvelopeSchema.nullable(),
  /** The latest authorizations to end it that were relayed during its runs. */
  digests: z.array(bytes32Schema).default([]),
})
/** What the cache knows of one order. */
export type OrderRecord = z.output<typeof orderRecordSchema>

/** The cache of orders: those that are open, and those that are final. */
export interface OrderRecords {
  get(orderId: Hex): Promise<OrderRecord | undefined>
  /**
   * Changes a record where it lies while nobody else changes it; a new one is open. `change` returns undefined to write
   * nothing, and the very same object to write nothing new: what it resolves with is durable all the same.
   */
  update(
    orderId: Hex,
    change: (current: OrderRecord | undefined) => OrderRecord | undefined | Promise<OrderRecord | undefined>,
  ): Promise<OrderRecord | undefined>
  /** As `update`, for an order whose escrow is open: its record is not looked for among the final ones. */
  updateOpen: OrderRecords['update']
  /** Puts a record among the final ones: nothing of it is due any more. */
  finish(orderId: Hex): Promise<void>
  /**
   * Removes an order that never ran and whose newest envelope came before a moment (Unix milliseconds). Resolves with
   * the newest one's time when it came later.
   */
  expire(orderId: Hex, before: number): Promise<number | undefined>
  /** Removes an order that never ran; one that ran stays. */
  removeUnrun(orderId: Hex): Promise<void>
  /** The orders that are not final. */
  openIds(): Promise<Hex[]>
}

/** An order of which nothing is known yet. */
export function emptyOrderRecord(orderId: Hex): OrderRecord {
  return {
    orderId,
    candidates: [],
    escrowCommit: null,
    triggers: [],
    nextTriggerAt: null,
    notice: null,
    digests: [],
  }
}

/** With these besides the known ones, each once. */
export function withDigests(record: OrderRecord, more: readonly Hex[]): OrderRecord {
  return { ...record, digests: [...new Set([...record.digests, ...more])].slice(-MAX_DIGESTS) }
}

/** The envelope that the escrow was opened against, when it is here. */
export function matchingCandidate(record: OrderRecord | undefined, commit: Hex): Candidate | undefined {
  return record?.candidates.find((candidate) => candidate.commit === commit)
}

/**
 * Records as files: `envelopes/open/<orderId>.json`, and `envelopes/done/<2 hex>/<orderId>.json` when final, so that
 * a start reads only what is open. Every method rejects with StorageError when the medium fails.
 */
export function createOrderRecords(options: {
  readonly files: AtomicFiles
  readonly logger: Logger
}): OrderRecords {
  const shared = { ...options, schema: orderRecordSchema }
  const open = createFileRecordStore({ ...shared, directory: 'envelopes/open', sharded: false })
  const done = createFileRecordStore({ ...shared, directory: 'envelopes/done', sharded: true })
  const lock = createKeyedLock()
  /** What was read of them may be lost yet: an earlier server was killed before its sync, perhaps, or a sync has failed. */
  const unsure = new Set<Hex>()
  const openIds = createOpenIds(open, (ids) => {
    for (const id of ids) unsure.add(id)
  })

  async function getOpen(orderId: Hex): Promise<OrderRecord | undefined> {
    return (await openIds.has(orderId)) ? open.get(orderId) : undefined
  }

  async function getUnrun(orderId: Hex): Promise<OrderRecord | undefined> {
    const current = await getOpen(orderId)
    return current?.triggers.length === 0 ? current : undefined
  }

  async function remove(orderId: Hex): Promise<void> {
    await open.delete(orderId)
    await openIds.delete(orderId)
    unsure.delete(orderId)
  }

  /** What a failed sync leaves can be read as if it were written. */
  async function rewrite(orderId: Hex, record: OrderRecord, how: typeof open.put): Promise<void> {
    unsure.add(orderId)
    await how(orderId, record)
    unsure.delete(orderId)
  }

  /** One that fails is not found, and is written anew: so anybody's orders that a full disk refuses leave nothing here. */
  async function create(orderId: Hex, record: OrderRecord): Promise<void> {
    await open.put(orderId, record)
    unsure.delete(orderId)
    await openIds.add(orderId)
  }

  /** The record and the store that it belongs to. */
  async function find(orderId: Hex) {
    const current = await getOpen(orderId)
    if (current !== undefined) return { current, store: open }
    const final = await done.get(orderId)
    return final === undefined ? { current: undefined, store: open } : { current: final, store: done }
  }

  function updateFound(look: typeof find): OrderRecords['update'] {
    return (orderId, change) =>
      lock.run(orderId, async () => {
        const { current, store } = await look(orderId)
        const next = await change(current)
        if (next === undefined) return undefined
        if (current === undefined) await create(orderId, next)
        else if (next !== current) await rewrite(orderId, next, store.append)
        else if (unsure.has(orderId)) await rewrite(orderId, next, store.put)
        return next
      })
  }

  return {
    get: async (orderId) => (await find(orderId)).current,
    update: updateFound(find),
    updateOpen: updateFound(async (orderId) => ({ current: await getOpen(orderId), store: open })),
    finish: (orderId) =>
      lock.run(orderId, async () => {
        const current = await getOpen(orderId)
        if (current === undefined) return
        if (current.nextTriggerAt !== null) await open.append(orderId, { ...current, nextTriggerAt: null })
        await open.move(orderId, done)
        await openIds.delete(orderId)
        unsure.delete(orderId)
      }),
    expire: (orderId, before) =>
      lock.run(orderId, async () => {
        const current = await getUnrun(orderId)
        if (current === undefined) return undefined
        const newest = Math.max(0, ...current.candidates.map(({ receivedAt }) => Date.parse(receivedAt)))
        if (newest >= before) return newest
        await remove(orderId)
        return undefined
      }),
    removeUnrun: (orderId) =>
      lock.run(orderId, async () => {
        if ((await getUnrun(orderId)) !== undefined) await remove(orderId)
      }),
    openIds: () => openIds.all(),
  }
}
