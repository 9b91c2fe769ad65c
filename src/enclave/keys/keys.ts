import {
  type Authorization,
  type AuthorizationDomain,
  signAuthorization,
} from '../../protocol/authorization.js'
import { openCancel } from '../../protocol/cancelIntent.js'
import type { Envelope } from '../../protocol/envelope.js'
import { ProtocolError } from '../../protocol/errors.js'
import { type Bytes, type Hex, hexToBytes } from '../../protocol/hex.js'
import { openIntent } from '../../protocol/intent.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { ledgerKey } from '../../protocol/ledgerBlob.js'
import { openRulebook } from '../../protocol/policyIntent.js'
import { addressOfKey, publicKeyOf } from '../../protocol/publicKey.js'
import { openResolution } from '../../protocol/resolution.js'
import type { Secret } from '../../service/secret.js'

/** What the enclave does with its keys. They are in closures alone, so nothing that prints this object shows one. */
export function createKeys(deps: {
  /** All ledger keys are derived from it. 32 bytes, as the others. */
  readonly master: Secret<Hex>
  readonly intent: Secret<Hex>
  readonly signing: Secret<Hex>
  /** Intent keys of former programs: what was sealed to them is opened too. */
  readonly former?: readonly Secret<Hex>[]
}) {
  const { master, intent, signing, former = [] } = deps
  const masterKey = hexToBytes(master.reveal())
  const intentKeys = [intent, ...former].map((key) => hexToBytes(key.reveal()))

  /** Opens with the first key that fits. Its errors are those of the last. */
  async function withEach<T>(open: (key: Bytes) => Promise<T>): Promise<T> {
    for (const key of intentKeys.slice(0, -1)) {
      try {
        return await open(key)
      } catch (error) {
        if (!(error instanceof ProtocolError && error.code === 'undecryptable')) throw error
      }
    }
    return open(intentKeys.at(-1) ?? new Uint8Array())
  }

  return {
    /** What clients seal to: the compressed public key. */
    sealKey: publicKeyOf(hexToBytes(intent.reveal())),
    /** Whose signatures `sign` gives. */
    signer: addressOfKey(signing.reveal()),
    /** Opens what clients seal. The errors are those of the functions in `protocol`. */
    open: {
      intent: (envelope: Envelope) => withEach((key) => openIntent(envelope, key)),
      rulebook: (envelope: Envelope) => withEach((key) => openRulebook(envelope, key)),
      resolution: (envelope: Envelope, domain: IntentDomain) =>
        withEach((key) => openResolution(envelope, key, domain)),
      /** The signature in this order's cancel. */
      cancel: (envelope: Envelope, order: Parameters<typeof openCancel>[2], domain: IntentDomain) =>
        withEach((key) => openCancel(envelope, key, order, domain)),
    },
    sign: (authorization: Authorization, domain: AuthorizationDomain) =>
      signAuthorization(authorization, domain, signing.reveal()),
    /** The key of one account's portfolio, or of one institution's rulebook. */
    ledgerKey: (owner: 'account' | 'org', id: Hex) => ledgerKey(masterKey, owner, id),
  }
}

export type EnclaveKeys = ReturnType<typeof createKeys>
