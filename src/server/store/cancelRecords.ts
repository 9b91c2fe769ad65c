import { z } from 'zod'
import { cancelEnvelopeSchema } from '../../protocol/envelope.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { envelopeHash } from '../../protocol/sealedRulebook.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments } from './documents.js'
import type { Engine } from './engine.js'

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
export type CancelRecord = z.output<typeof cancelRecordSchema>

/**
 * Stored cancels, open until their orders have ended, and kept afterwards. In a table of their own, because a server of the
 * version before refuses an order's record with a member that it does not know. Every method rejects with StorageError.
 */
export interface CancelRecords {
  get(orderId: Hex): Promise<CancelRecord | undefined>
  /** Keeps the offered cancel, or the one that is there. Durable when it resolves. */
  keep(offered: CancelRecord): Promise<{ readonly kept: CancelRecord; readonly isNews: boolean }>
  /** The order has ended. */
  close(orderId: Hex): Promise<void>
  openIds(): Promise<Hex[]>
}

export function createCancelRecords(options: {
  readonly engine: Engine
  readonly logger: Logger
}): CancelRecords {
  const documents = createDocuments({ ...options, table: 'cancels', schema: cancelRecordSchema })
  return {
    get: documents.get,
    async keep(offered) {
      let [kept, isNews] = [offered, true]
      await documents.change(
        offered.orderId,
        (current) => {
          const next = current && nextOf(current.value, offered, current.version)
          kept = next ?? current?.value ?? offered
          // A reorganization has opened the order again after its end.
          isNews = current === undefined || next !== undefined || !current.isOpen
          return isNews ? { value: kept, isOpen: true } : undefined
        },
        true,
      )
      return { kept, isNews }
    },
    close: (orderId) =>
      documents.change(orderId, (current) =>
        current?.isOpen ? { value: current.value, isOpen: false } : undefined,
      ),
    openIds: async () => (await documents.openIds()).map((id) => bytes32Schema.parse(id)),
  }
}

/** The cancel that replaces the stored one, if any does. */
function nextOf(current: CancelRecord, offered: CancelRecord, version: number): CancelRecord | undefined {
  const isSame = envelopeHash(current.envelope) === envelopeHash(offered.envelope)
  if (isSame || version >= MAX_CANCELS) return undefined
  return { ...offered, receivedAt: current.receivedAt }
}
