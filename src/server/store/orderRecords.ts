import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { triggerSchema } from '../../protocol/api.js'
import { cancelEnvelopeSchema, orderEnvelopeSchema } from '../../protocol/envelopeForm.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { envelopeHash } from '../../protocol/sealedRulebook.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments } from './documents.js'
import type { Engine } from './engine.js'

/** Envelopes kept under one orderId while its escrow is not visible, because anyone can post junk under it first. */
export const MAX_CANDIDATES = 8
/** An order has one authorization to end it, or a few when others of its account come between. */
const MAX_DIGESTS = 20

const timeSchema = z.iso.datetime()

/**
 * An envelope as it was accepted. The router has checked that `epk` is a point on the curve, which lasts longer than
 * all other checks, and the enclave checks it again.
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
  escrowCommit: z.nullable(bytes32Schema),
  /** The latest runs, oldest first. */
  triggers: z.array(triggerSchema),
  nextTriggerAt: timeSchema.nullable(),
  notice: storedEnvelopeSchema.nullable(),
  /** The latest authorizations to end it that were relayed during its runs. */
  digests: z.array(bytes32Schema),
})
export type OrderRecord = z.output<typeof orderRecordSchema>

/** The part of a record that an order's status shows: all but the envelopes themselves. */
export interface OrderSummary extends Pick<OrderRecord, 'triggers' | 'nextTriggerAt' | 'notice'> {
  readonly candidates: readonly Pick<Candidate, 'commit' | 'receivedAt'>[]
  /** When its account's cancel came. */
  readonly cancelReceivedAt?: string | undefined
}

/** The record of an order before its first envelope or run. */
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

/** The very same record when it has the digest already. */
export function withDigest(record: OrderRecord, digest: Hex): OrderRecord {
  if (record.digests.includes(digest)) return record
  return { ...record, digests: [...record.digests, digest].slice(-MAX_DIGESTS) }
}

/** The envelope that the escrow was opened against, when it is here. */
export function matchingCandidate<C extends Pick<Candidate, 'commit'>>(
  record: { readonly candidates: readonly C[] } | undefined,
  commit: Hex,
): C | undefined {
  return record?.candidates.find((candidate) => candidate.commit === commit)
}

/** Summaries that are remembered: some kilobytes each, mostly of the notice. */
const SUMMARIES = 10_000

/** The stored orders: those that are open, and those that are final. Every method rejects with StorageError. */
export type OrderRecords = ReturnType<typeof createOrderRecords>

export function createOrderRecords(options: { readonly engine: Engine; readonly logger: Logger }) {
  const documents = createDocuments({ ...options, table: 'orders', schema: orderRecordSchema })
  const cancels = createCancelRecords(options)
  /**
   * Resolves with the record as it is stored until the order has run. Before that any server may remove it, and the next record counts its
   * versions anew.
   */
  const summaries = new LRUCache<Hex, { version: number; summary: OrderSummary; doc: string | undefined }>({
    max: SUMMARIES,
  })

  const removeUnrun = (orderId: Hex, mayGo: (record: OrderRecord) => boolean = () => true): Promise<void> =>
    documents.remove(orderId, ({ value, isOpen }) => isOpen && value.triggers.length === 0 && mayGo(value))

  return {
    get: (orderId: Hex) => documents.get(orderId),
    /** Records that exist, other than in a known version. */
    async newer(known: ReadonlyMap<Hex, number | undefined>) {
      const found = await documents.getMany([...known.keys()], ({ id, version }) => {
        return known.get(bytes32Schema.parse(id)) === version
      })
      return found.map(({ version, value }) => ({ version, record: value }))
    },
    /** The very same object as long as the record has not changed. */
    async summaryOf(orderId: Hex): Promise<OrderSummary | undefined> {
      const known = summaries.get(orderId)
      const row = await documents.row(orderId)
      if (row === undefined) return undefined
      const isKnown = row.version === known?.version && (known.doc === undefined || known.doc === row.doc)
      if (known !== undefined && isKnown) return known.summary
      const { version, value, doc } = documents.parse(row)
      // Read with each new version of the record, of which storing a cancel makes one.
      const { candidates, triggers, nextTriggerAt, notice } = value
      const summary = {
        candidates: candidates.map(({ commit, receivedAt }) => ({ commit, receivedAt })),
        ...{ triggers, nextTriggerAt, notice },
        cancelReceivedAt: (await cancels.get(orderId))?.receivedAt,
      }
      summaries.set(orderId, { version, summary, doc: value.triggers.length === 0 ? doc : undefined })
      return summary
    },
    /**
     * Changes a record while nothing else changes it; a new one is open. `change` returns undefined or the very same object
     * to write nothing: what is there is durable.
     */
    async update(
      orderId: Hex,
      change: (current: OrderRecord | undefined) => OrderRecord | undefined,
    ): Promise<OrderRecord | undefined> {
      let result: OrderRecord | undefined
      await documents.change(orderId, (current) => {
        result = change(current?.value)
        if (result === undefined || result === current?.value) return undefined
        return { value: result, isOpen: current?.isOpen ?? true }
      })
      return result
    },
    /** Makes a record final: no run of it is due any more. */
    finish: (orderId: Hex) =>
      documents.change(orderId, (current) =>
        current?.isOpen ? { value: { ...current.value, nextTriggerAt: null }, isOpen: false } : undefined,
      ),
    /**
     * Removes an order that never ran and whose newest envelope came before a moment (Unix milliseconds). Resolves with
     * the newest one's time when it came later.
     */
    async expire(orderId: Hex, before: number): Promise<number | undefined> {
      let newest: number | undefined
      await removeUnrun(orderId, ({ candidates }) => {
        newest = Math.max(0, ...candidates.map(({ receivedAt }) => Date.parse(receivedAt)))
        return newest < before
      })
      return newest !== undefined && newest >= before ? newest : undefined
    },
    /** Removes an order that never ran; one that ran stays. */
    removeUnrun: (orderId: Hex) => removeUnrun(orderId),
    openIds: async () => (await documents.openIds()).map((id) => bytes32Schema.parse(id)),
    cancels,
  }
}

/**
 * How often an order's cancel may be written. An account may replace its own, because the enclave's key may have changed; the
 * limit keeps that cheap.
 */
export const MAX_CANCELS = 8

const cancelRecordSchema = z.strictObject({
  orderId: bytes32Schema,
  /** The router has checked that `epk` is a point on the curve. */
  envelope: z.strictObject({ ...cancelEnvelopeSchema.shape, epk: hexBetween(33, 65) }),
  /** `keccak256(ct)`. */
  commit: bytes32Schema,
  /** When the first one came. */
  receivedAt: z.iso.datetime(),
})
/** The cancel of an order, signed by its account; one for each order. */
type CancelRecord = z.output<typeof cancelRecordSchema>

/**
 * Stored cancels, open until their orders have ended, and kept afterwards. In a table of their own, because a server of the
 * version before refuses an order's record with a member that it does not know. Every method rejects with StorageError.
 */
function createCancelRecords(options: { readonly engine: Engine; readonly logger: Logger }) {
  const documents = createDocuments({ ...options, table: 'cancels', schema: cancelRecordSchema })
  return {
    get: (orderId: Hex) => documents.get(orderId),
    /** Keeps the offered cancel, or the one that is there. Durable when it resolves. */
    async keep(offered: CancelRecord): Promise<{ readonly kept: CancelRecord; readonly isNews: boolean }> {
      let [kept, isNews] = [offered, true]
      await documents.change(offered.orderId, (current) => {
        const isKept =
          current !== undefined &&
          (current.version >= MAX_CANCELS ||
            envelopeHash(current.value.envelope) === envelopeHash(offered.envelope))
        kept = isKept
          ? current.value
          : { ...offered, receivedAt: current?.value.receivedAt ?? offered.receivedAt }
        // A reorganization has opened the order again after its end.
        isNews = !isKept || !current.isOpen
        return isNews ? { value: kept, isOpen: true } : undefined
      })
      return { kept, isNews }
    },
    close: (orderId: Hex) =>
      documents.change(orderId, (current) =>
        current?.isOpen ? { value: current.value, isOpen: false } : undefined,
      ),
    openIds: async () => (await documents.openIds()).map((id) => bytes32Schema.parse(id)),
  }
}
