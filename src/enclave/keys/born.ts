// Keys that are born in the enclave: the master key is drawn here and leaves as shares alone; seal key and signer follow from it.
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utils } from '@noble/secp256k1'
import { combine, split } from 'shamir-secret-sharing'
import type { SignerProgram } from '../../chain/signerProgram.js'
import type { Envelope } from '../../protocol/envelope.js'
import { type Bytes, bytesToHex, concatBytes, type Hex, hexToBytes } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type MasterShare, masterDigest, sealShare } from '../../protocol/masterShare.js'

const MASTER_BYTES = 32
/** FIPS 186-5, A.2.1: 128 bits more than the curve's order leave no bias. */
const SEED_BYTES = 48

/** 32 bytes. */
export function drawMaster(): Bytes {
  return crypto.getRandomValues(new Uint8Array(MASTER_BYTES))
}

/**
 * The keys of one measured program with one configuration: the same after each start, others after a change of either. A configuration that
 * was withdrawn, and is started again, has none that anybody still trusts.
 * @returns 32 bytes each
 */
export function deriveKeys(
  master: Bytes,
  { measurement, config }: SignerProgram,
): { readonly intent: Hex; readonly signing: Hex } {
  const keyFor = (purpose: string) => {
    const label = new TextEncoder().encode(`enclave-${purpose}-v1`)
    const info = concatBytes(label, hexToBytes(measurement), hexToBytes(config))
    return bytesToHex(utils.randomSecretKey(hkdf(sha256, master, undefined, info, SEED_BYTES)))
  }
  return { intent: keyFor('intent'), signing: keyFor('signing') }
}

/**
 * A share of the master key for each holder, sealed to her key (Shamir: fewer than the threshold tell nothing).
 * @param holders public keys, two at least
 * @throws Error for a threshold below two or above the number of holders
 */
export async function shareMaster(
  master: Bytes,
  holders: readonly Hex[],
  { threshold, domain }: { readonly threshold: number; readonly domain: IntentDomain },
): Promise<Envelope[]> {
  const shares = await split(master, holders.length, threshold)
  const named = { v: 1 as const, master: masterDigest(master), threshold }
  return Promise.all(
    holders.map((holder, index) => {
      const share = bytesToHex(Uint8Array.from(shares[index] ?? []))
      return sealShare({ ...named, share }, holder, ['share-of-holder', domain])
    }),
  )
}

/** Gathers shares until they make the master key. A holder who gives a false one holds up nobody while the others have enough. */
export function createShareCollector() {
  const gathered = new Map<Hex, MasterShare>()
  return {
    /**
     * @param holder the public key whose owner gives the share: a second one replaces the first
     * @returns the master key, once enough shares make the key that they name
     */
    async add(holder: Hex, given: MasterShare): Promise<Bytes | undefined> {
      gathered.delete(holder)
      const { master, threshold } = given
      const others = [...gathered.values()].filter((other) => other.master === master)
      gathered.set(holder, given)
      for (const chosen of combinationsOf(others, threshold - 1)) {
        const shares = [given, ...chosen]
        if (!areDistinct(shares)) continue
        const found = await combine(shares.map(({ share }) => hexToBytes(share)))
        if (masterDigest(Uint8Array.from(found)) === master) return Uint8Array.from(found)
      }
      return undefined
    },
  }
}

/** One share given by two holders counts once: shares differ by the x coordinate, their last byte. */
function areDistinct(shares: readonly MasterShare[]): boolean {
  return new Set(shares.map(({ share }) => share.slice(-2))).size === shares.length
}

/** Every choice of so many: where a share among them is false, another choice makes the key. */
function* combinationsOf<T>(items: readonly T[], count: number): Generator<T[]> {
  if (count === 0) yield []
  else if (items.length >= count) {
    const [first, ...rest] = items
    if (first === undefined) return
    for (const chosen of combinationsOf(rest, count - 1)) yield [first, ...chosen]
    yield* combinationsOf(rest, count)
  }
}
