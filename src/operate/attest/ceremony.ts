// What people give an enclave that waits for its keys. Each step follows the verification of its evidence.
import type { Attestation } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type MasterShare, sealShare } from '../../protocol/masterShare.js'
import {
  type BrokerKeys,
  type Founding,
  foundingSchema,
  type Provisioned,
  provisionedSchema,
  provisioningSchema,
  sealBrokerKeys,
  signFounding,
  signProvision,
} from '../../protocol/provisioning.js'
import { publicKeyOfKey } from '../secretFiles.js'
import { askEnclave } from './askEnclave.js'

/** The evidence of an enclave that waits for its keys. @throws RefusedError `keys-present` where it has them; as {@link askEnclave} */
export function askStarting(enclaveUrl: string): Promise<Attestation> {
  return askEnclave(enclaveUrl, '/provisioning', { method: 'GET' }, provisioningSchema)
}

/** Has the enclave draw a master key. @param owner the first holder's private key */
export function found(enclaveUrl: string, sealKey: Hex, owner: Hex): Promise<Founding> {
  const body = { signature: signFounding(sealKey, owner) }
  return askEnclave(enclaveUrl, '/provisioning/founding', { method: 'POST', body }, foundingSchema)
}

/** Gives a holder's share, sealed to the enclave, and where the owner has them the broker's keys. @param key the holder's private key */
export async function provision(
  enclaveUrl: string,
  sealKey: Hex,
  domain: IntentDomain,
  { share, key, broker }: { readonly share: MasterShare; readonly key: Hex; readonly broker?: BrokerKeys },
): Promise<Provisioned> {
  const envelopes = {
    envelope: await sealShare(share, sealKey, ['share-for-enclave', domain]),
    ...(broker && { brokerKeys: await sealBrokerKeys(broker, sealKey, domain) }),
  }
  const signature = signProvision(envelopes, sealKey, key)
  const body = { holder: publicKeyOfKey(key), ...envelopes, signature }
  return askEnclave(enclaveUrl, '/provisioning', { method: 'POST', body }, provisionedSchema)
}
