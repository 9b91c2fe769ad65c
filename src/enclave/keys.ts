import {
  type Authorization,
  type AuthorizationDomain,
  type SignedAuthorization,
  signAuthorization,
} from '../protocol/authorization.js'
import { assertCancels } from '../protocol/cancelIntent.js'
import { type Bytes, type Hex, hexToBytes } from '../protocol/hex.js'
import { openIntent } from '../protocol/intent.js'
import { ledgerKey } from '../protocol/ledgerBlob.js'
import { openRulebook } from '../protocol/policyIntent.js'
import { openResolution } from '../protocol/resolution.js'
import type { Secret } from '../service/secret.js'

/** What the enclave does with its keys. They are in closures alone, so nothing that prints this object shows one. */
export interface EnclaveKeys {
  /** Opens what clients seal. The errors are those of the functions in `protocol`. */
  readonly open: {
    intent(envelope: Parameters<typeof openIntent>[0]): ReturnType<typeof openIntent>
    rulebook(envelope: Parameters<typeof openRulebook>[0]): ReturnType<typeof openRulebook>
    resolution(
      envelope: Parameters<typeof openResolution>[0],
      domain: Parameters<typeof openResolution>[2],
    ): ReturnType<typeof openResolution>
    /** Whether it is the account's own cancel of this order. @throws as `assertCancels` does */
    cancel(
      envelope: Parameters<typeof assertCancels>[0],
      order: Parameters<typeof assertCancels>[2],
      domain: Parameters<typeof assertCancels>[3],
    ): ReturnType<typeof assertCancels>
  }
  sign(authorization: Authorization, domain: AuthorizationDomain): SignedAuthorization
  /** The key of one account's portfolio, or of one institution's rulebook. */
  ledgerKey(owner: 'account' | 'org', id: Hex): Bytes
}

interface KeyMaterial {
  /** All ledger keys are derived from it. 32 bytes, as the others. */
  readonly master: Secret<Hex>
  readonly intent: Secret<Hex>
  readonly signing: Secret<Hex>
}

export function createKeys({ master, intent, signing }: KeyMaterial): EnclaveKeys {
  const masterKey = hexToBytes(master.reveal())
  const intentKey = hexToBytes(intent.reveal())
  return {
    open: {
      intent: (envelope) => openIntent(envelope, intentKey),
      rulebook: (envelope) => openRulebook(envelope, intentKey),
      resolution: (envelope, domain) => openResolution(envelope, intentKey, domain),
      cancel: (envelope, order, domain) => assertCancels(envelope, intentKey, order, domain),
    },
    sign: (authorization, domain) => signAuthorization(authorization, domain, signing.reveal()),
    ledgerKey: (owner, id) => ledgerKey(masterKey, owner, id),
  }
}
