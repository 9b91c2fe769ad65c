// Seals a caller's own data for its device with the portfolio key. The wallet, or the file of a drawn key, opens it again.
import { ProtocolError } from '../protocol/errors.js'
import { type Bytes, bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import { hkdf } from '../protocol/hkdf.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { openBlob, sealBlob } from '../protocol/ledgerBlob.js'
import type { Keyring } from './keyring.js'

/** The ledger and the account for which something is sealed. It opens for no other. */
export interface DevicePlace {
  readonly chainId: number
  readonly ledger: Hex
  readonly account: Hex
}

/** The format of what is sealed. Other formats are not read. */
const FORMAT = 1n

/** Sealed as the ledger's blobs are, bound to purpose, chain, ledger, account and format. */
export function createDeviceSeal(options: {
  /** Such as `history`. What is sealed for one purpose does not open for another. */
  readonly purpose: string
  readonly place: DevicePlace
  readonly keys: Pick<Keyring, 'newest' | 'opened'>
}) {
  const { purpose, place, keys } = options
  const { chainId, ledger, account } = place
  const blobPlace = { chainId, ledger, id: accountIdOf(account), version: FORMAT }
  return {
    /** Seals a JSON value with the newest key, padded to hide its length. */
    async seal(value: unknown): Promise<Bytes> {
      const { privateKey } = await keys.newest()
      return hexToBytes(await sealBlob(value, await deviceKey(privateKey, purpose), blobPlace))
    },
    /**
     * The JSON value, unvalidated; undefined if no key opens it.
     * @throws ClientError if the user rejects the signature that derives the key
     */
    async open(bytes: Uint8Array): Promise<unknown> {
      const blob = bytesToHex(bytes)
      try {
        return await keys.opened(async ({ privateKey }) =>
          openBlob(blob, await deviceKey(privateKey, purpose), blobPlace),
        )
      } catch (error) {
        if (error instanceof ProtocolError) return undefined
        throw error
      }
    },
  }
}

/** HKDF-SHA256 (RFC 5869) of the portfolio's private key. */
function deviceKey(privateKey: Bytes, purpose: string): Promise<Bytes> {
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  return hkdf(privateKey, bytesOf(`service-${purpose}-v1`), bytesOf(purpose), 32)
}
