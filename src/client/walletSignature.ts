// Whether a signature is its account's: of the account's key, or as its contract takes it. It is loaded before a wallet is asked for the first one.
import { createSignatureCheck } from '../chain/accountSignature.js'
import type { Hex } from '../protocol/hex.js'
import { accountSignatureSchema, isSignedByKey, normalizeSignature } from '../protocol/signature.js'
import type { ChainReads } from './chainReads.js'

interface WalletSignature {
  /** A key's in its one form, low-s with `v` 27 or 28; a contract's as it is. */
  readonly signature: Hex
  readonly isOfKey: boolean
}

export function createSignatureReader(reads: Pick<ChainReads, 'call'>) {
  const isSignedBy = createSignatureCheck({ call: ({ data }) => reads.call({ data }) })
  return {
    isSignedBy,
    /** What a wallet answered; null where it is not the account's. */
    async read(account: Hex, digest: Hex, answer: Hex): Promise<WalletSignature | null> {
      const { data } = accountSignatureSchema.safeParse(answer)
      const signature = data && normalOf(data)
      if (signature === undefined) return null
      if (isSignedByKey(account, digest, signature)) return { signature, isOfKey: true }
      return (await isSignedBy(account, digest, signature)) ? { signature, isOfKey: false } : null
    },
  }
}

function normalOf(signature: Hex): Hex {
  try {
    return normalizeSignature(signature)
  } catch {
    return signature
  }
}
