import { z } from 'zod'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createDocuments } from './documents.js'
import type { Engine } from './engine.js'

const openingRecordSchema = z.strictObject({
  /** The digest of the opening that may use the id. */
  digest: bytes32Schema,
  at: z.iso.datetime(),
})
export type OpeningRecord = z.output<typeof openingRecordSchema>

/**
 * The opening that the servers send for an order's id: one at a time, by the id's first 16 bytes, which the escrow takes once. Rejects
 * with StorageError.
 */
export interface OpeningRecords {
  /**
   * @param isOver whether the earlier opening of the id can have no effect any more, or has had it
   * @returns whether the opening may be sent. Durable when it resolves
   */
  claim(orderId: Hex, digest: Hex, isOver: (earlier: OpeningRecord) => Promise<boolean>): Promise<boolean>
  /** The last claim of the id's first 16 bytes. */
  get(orderId: Hex): Promise<OpeningRecord | undefined>
}

/** Characters of an order id's first 16 bytes, `0x` included. */
const PREFIX_CHARS = 34

export function createOpeningRecords(options: {
  readonly engine: Engine
  readonly logger: Logger
}): OpeningRecords {
  const documents = createDocuments({ ...options, table: 'state', schema: openingRecordSchema })
  const nameOf = (orderId: Hex) => `opening:${orderId.slice(0, PREFIX_CHARS)}`
  return {
    get: (orderId) => documents.get(nameOf(orderId)),
    async claim(orderId, digest, isOver) {
      let isClaimed = false
      await documents.change(nameOf(orderId), async (current) => {
        isClaimed = current === undefined || current.value.digest === digest || (await isOver(current.value))
        if (!isClaimed || current?.value.digest === digest) return undefined
        return { value: { digest, at: new Date().toISOString() }, isOpen: false }
      })
      return isClaimed
    },
  }
}
