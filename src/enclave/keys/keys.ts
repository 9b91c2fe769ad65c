import {
  type Authorization,
  type AuthorizationDomain,
  signAuthorization,
} from '../../protocol/authorization.js'
import { openCancel } from '../../protocol/cancelIntent.js'
import type { Envelope } from '../../protocol/envelope.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { openIntent } from '../../protocol/intent.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { ledgerKey } from '../../protocol/ledgerBlob.js'
import { openRulebook } from '../../protocol/policyIntent.js'
import { openResolution } from '../../protocol/resolution.js'
import type { Secret } from '../../service/secret.js'

/** What the enclave does with its keys. They are in closures alone, so nothing that prints this object shows one. */
export function createKeys(deps: {
  /** All ledger keys are derived from it. 32 bytes, as the others. */
  readonly master: Secret<Hex>
  readonly intent: Secret<Hex>
  readonly signing: Secret<Hex>
}) {
  const { master, intent, signing } = deps
  const masterKey = hexToBytes(master.reveal())
  const intentKey = hexToBytes(intent.reveal())
  return {
    /** Opens what clients seal. The errors are those of the functions in `protocol`. */
    open: {
      intent: (envelope: Envelope) => openIntent(envelope, intentKey),
      rulebook: (envelope: Envelope) => openRulebook(envelope, intentKey),
      resolution: (envelope: Envelope, domain: IntentDomain) => openResolution(envelope, intentKey, domain),
      /** The signature in this order's cancel. */
      cancel: (envelope: Envelope, order: Parameters<typeof openCancel>[2], domain: IntentDomain) =>
        openCancel(envelope, intentKey, order, domain),
    },
    sign: (authorization: Authorization, domain: AuthorizationDomain) =>
      signAuthorization(authorization, domain, signing.reveal()),
    /** The key of one account's portfolio, or of one institution's rulebook. */
    ledgerKey: (owner: 'account' | 'org', id: Hex) => ledgerKey(masterKey, owner, id),
  }
}

export type EnclaveKeys = ReturnType<typeof createKeys>
