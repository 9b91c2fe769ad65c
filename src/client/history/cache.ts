// A history's final part, kept by the caller and sealed with the portfolio key: a page need not read the chain again.
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import * as z from 'zod'
import { type Bytes, bytes32Schema, bytesToHex, type Hex, hexToBytes } from '../../protocol/hex.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { openBlob, sealBlob } from '../../protocol/ledgerBlob.js'
import { publicKeySchema } from '../../protocol/publicKey.js'
import { ClientError } from '../errors.js'
import type { Keyring } from '../keyring.js'
import { knownSchema } from './derive.js'
import { historyEntrySchema } from './entries.js'

/** Keeps sealed bytes under a name, such as a table of IndexedDB. A store that fails costs time, and no entry. */
export interface HistoryStore {
  get(name: string): Promise<Uint8Array | null | undefined>
  set(name: string, bytes: Uint8Array): Promise<void>
}

const keptSchema = z.strictObject({
  /** The first block that was read. */
  from: z.int().min(0),
  /** The last block that was read; final then. */
  last: z.strictObject({ number: z.int().min(0), hash: bytes32Schema }),
  /** Null if no event that shows it was seen. */
  known: knownSchema.nullable(),
  entries: z.array(historyEntrySchema),
  /** The drawn keys that were tried. A version that they did not open is tried again with others. */
  keys: z.array(publicKeySchema),
})
/** The part of a history that no reorganization can change. */
export type KeptHistory = z.output<typeof keptSchema>

interface HistoryCache {
  /** Null if nothing is kept that these keys open. */
  load(): Promise<KeptHistory | null>
  save(kept: KeptHistory): Promise<void>
}

/** The ledger and the account whose history it is. */
interface CachePlace {
  readonly chainId: number
  readonly ledger: Hex
  readonly account: Hex
}

/** The format of the plaintext. Other formats are not read. */
const FORMAT = 1n
const SALT = new TextEncoder().encode('service-history-v1')

/** The key of a kept history: HKDF-SHA256 (RFC 5869) of the portfolio's private key. */
function historyKey(privateKey: Bytes): Bytes {
  return Uint8Array.from(hkdf(sha256, privateKey, SALT, new TextEncoder().encode('history'), 32))
}

/** Sealed as the ledger's blobs are, bound to chain, ledger, account and format. */
export function createHistoryCache(
  store: HistoryStore,
  { chainId, ledger, account }: CachePlace,
  keys: Pick<Keyring, 'newest' | 'opened'>,
): HistoryCache {
  const name = `history/${chainId}/${ledger}/${account}`.toLowerCase()
  const place = { chainId, ledger, id: accountIdOf(account), version: FORMAT }
  return {
    async load() {
      const bytes = await unlessFailed(() => store.get(name))
      if (!bytes) return null
      try {
        const blob = bytesToHex(bytes)
        const value = await keys.opened(({ privateKey }) => openBlob(blob, historyKey(privateKey), place))
        return keptSchema.safeParse(value).data ?? null
      } catch (error) {
        // The user rejected the signature that derives the key.
        if (error instanceof ClientError) throw error
        return null
      }
    },
    async save(kept) {
      const { privateKey } = await keys.newest()
      const blob = await sealBlob(z.encode(keptSchema, kept), historyKey(privateKey), place)
      await unlessFailed(() => store.set(name, hexToBytes(blob)))
    },
  }
}

/** A full or forbidden store must not prevent reading the history. */
async function unlessFailed<T>(use: () => Promise<T>): Promise<T | undefined> {
  try {
    return await use()
  } catch {
    return undefined
  }
}
