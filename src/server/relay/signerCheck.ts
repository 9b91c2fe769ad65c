import type { Signers } from '../../chain/authorityView.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { assertSignedBy, createSignerCheck } from '../../protocol/signature.js'
import { createSharedValue } from '../../service/waiting.js'

const FRESH_MS = 5_000
/** How long it serves while another one is read. The contract judges again before gas is spent. */
const USABLE_MS = 30_000

/** Whether the chain's signer has signed a digest. Rejects with ChainUnavailableError, ChainAnswerError. */
export type IsSignedBySigner = (digest: Hex, signature: Hex) => Promise<boolean>

/**
 * Reads the signers every five seconds at most, and only while it is asked. A signature by the next signer makes it read at once: that
 * one may be in force by now.
 */
export function createSignerOfChain(read: () => Promise<Signers>): IsSignedBySigner {
  const shared = createSharedValue({ load: read, freshMs: () => FRESH_MS, usableMs: () => USABLE_MS })
  let current: { readonly signer: Hex; readonly check: ReturnType<typeof createSignerCheck> } | undefined

  function isBy({ signer }: Signers, digest: Hex, signature: Hex): boolean {
    const known = current?.signer === signer ? current : { signer, check: createSignerCheck(signer) }
    current = known
    return holds(() => known.check(digest, signature))
  }

  return async (digest, signature) => {
    const { value, isFresh } = await shared.get()
    if (isBy(value, digest, signature)) return true
    const { pending } = value
    const isByNext = pending !== null && holds(() => assertSignedBy(pending.to, digest, signature))
    return (isByNext || !isFresh) && isBy(await shared.join(), digest, signature)
  }
}

function holds(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof ProtocolError) return false
    throw error
  }
}
