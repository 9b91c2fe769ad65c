// A history's final part, kept by the caller and sealed with the portfolio key: a page need not read the chain again.

import * as z from 'zod/mini'
import { bytes32Schema } from '../../protocol/hex.js'
import { publicKeySchema } from '../../protocol/point.js'
import { createDeviceSeal, type DevicePlace } from '../deviceSeal.js'
import { type HistoryStore, unlessFailed } from '../keptLists.js'
import type { Keyring } from '../keyring.js'
import { knownSchema } from './derive.js'
import { historyEntrySchema } from './entries.js'

const keptSchema = z.strictObject({
  /** The first block that was read. */
  from: z.int().check(z.minimum(0)),
  /** The last block that was read; final then. */
  last: z.strictObject({ number: z.int().check(z.minimum(0)), hash: bytes32Schema }),
  /** Null if no event that shows it was seen. */
  known: z.nullable(knownSchema),
  entries: z.array(historyEntrySchema),
  /** The drawn keys that were tried. A version that they did not open is tried again with others. */
  keys: z.array(publicKeySchema),
})
/** The part of a history that no reorganization can change. */
export type KeptHistory = z.output<typeof keptSchema>

export function createHistoryCache(
  store: HistoryStore,
  place: DevicePlace,
  keys: Pick<Keyring, 'newest' | 'opened'>,
) {
  const name = `history/${place.chainId}/${place.ledger}/${place.account}`.toLowerCase()
  const sealed = createDeviceSeal({ purpose: 'history', place, keys })
  return {
    /** Null if nothing is kept that these keys open. */
    async load(): Promise<KeptHistory | null> {
      const bytes = await unlessFailed(() => store.get(name))
      return bytes ? (keptSchema.safeParse(await sealed.open(bytes)).data ?? null) : null
    },
    async save(kept: KeptHistory): Promise<void> {
      const bytes = await sealed.seal(z.encode(keptSchema, kept))
      await unlessFailed(() => store.set(name, bytes))
    },
  }
}
