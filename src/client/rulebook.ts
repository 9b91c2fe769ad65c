import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { addressSchema, sameAddress } from '../protocol/address.js'
import { type PolicyVersion, policyVersionSchema } from '../protocol/api.js'
import { type Envelope, MAX_POLICY_BYTES } from '../protocol/envelope.js'
import { bytes32Schema, type Hex, hexLength } from '../protocol/hex.js'
import { INTENT_VERSION } from '../protocol/intent.js'
import { intentDomain } from '../protocol/intentDomain.js'
import { type Policy, policySchema } from '../protocol/policy.js'
import {
  policyIntentDigest,
  policyIntentMessage,
  policyIntentTypes,
  sealRulebook,
  type UnsignedRulebook,
} from '../protocol/policyIntent.js'
import { envelopeHash, sealedRulebookDigest, sealedRulebookTypes } from '../protocol/sealedRulebook.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Http } from './http.js'
import type { Platform } from './platform.js'
import { type RetryTiming, withRetries } from './retry.js'
import type { Wallet } from './wallet.js'

interface RulebookDeps {
  readonly http: Http
  readonly wallet: Wallet
  readonly platform: Platform
  readonly timing: RetryTiming
  /** The server answers when the enclave's whole run is over. */
  readonly policyTimeoutMs: number
}

/**
 * Signs the rulebook by the wallet of its institution's admin, seals it, signs the envelope and publishes it: it replaces
 * the present one wholesale. The wallet is asked twice. Keys of `employees` may be in any case.
 *
 * @returns institution and version that are now in force
 * @throws ClientError `not-admin`, `invalid-rulebook`; ServerError `policy-rejected` with the enclave's code in
 *   `problem.reason`, `enclave-failed`, `enclave-timeout` (it may still be accepted: read the version again)
 */
export async function publishRulebook(
  policy: Policy,
  deps: RulebookDeps,
  signal?: AbortSignal,
): Promise<PolicyVersion> {
  const { http, timing, policyTimeoutMs } = deps
  const admin = await deps.wallet.account()
  const orgId = await institutionOf(admin, deps)
  const present = await withRetries(
    () => http.get(`/policy/${orgId}`, policyVersionSchema, { signal }),
    timing,
    signal,
  )
  const version = present.version + 1
  const lowered = lowerCaseKeys(policy)
  const envelope = await signAndSeal({ v: INTENT_VERSION, orgId, admin, policy: lowered, version }, deps)
  const author = { orgId, sig: await signEnvelope(orgId, envelope, deps) }
  const post = () =>
    http.post('/policy', { ...envelope, author }, policyVersionSchema, { signal, timeoutMs: policyTimeoutMs })
  const published = await withRetries(post, timing, signal)
  if (published.orgId === orgId && published.version === version) return published
  throw new ClientError('unexpected-answer', `Version ${version} was published, the server names another.`)
}

/** @throws ClientError `not-admin` */
async function institutionOf(admin: Hex, { wallet, platform }: RulebookDeps): Promise<Hex> {
  const registry = createContract({ wallet, address: platform.registry, abi: institutionRegistryAbi })
  const orgId = await registry.read<Hex>('orgOf', [admin], bytes32Schema)
  const current = await registry.read<Hex>('adminOf', [orgId], addressSchema)
  if (sameAddress(current, admin)) return orgId
  throw new ClientError('not-admin', 'This wallet is the admin of no institution.')
}

async function signAndSeal(
  unsigned: UnsignedRulebook,
  { wallet, platform }: RulebookDeps,
): Promise<Envelope> {
  const sig = await wallet.signTyped({
    domain: intentDomain(platform),
    types: policyIntentTypes,
    message: policyIntentMessage(unsigned),
    digest: policyIntentDigest(unsigned, platform),
  })
  const envelope = await sealRulebook({ ...unsigned, sig }, platform.enclavePublicKey)
  if (hexLength(envelope.ct) > MAX_POLICY_BYTES) {
    throw new ClientError('invalid-rulebook', `A rulebook has at most ${MAX_POLICY_BYTES} bytes.`)
  }
  return envelope
}

/** Outside the seal: the server lets what an institution's admin signed wait in a queue that strangers cannot fill. */
function signEnvelope(orgId: Hex, envelope: Envelope, { wallet, platform }: RulebookDeps): Promise<Hex> {
  const message = { orgId, envelopeHash: envelopeHash(envelope) }
  return wallet.signTyped({
    domain: intentDomain(platform),
    types: sealedRulebookTypes,
    message,
    digest: sealedRulebookDigest(message, platform),
  })
}

/** @throws ClientError `invalid-rulebook` */
function lowerCaseKeys(policy: Policy): Policy {
  const entries = Object.entries(policy.employees).map(([key, rules]) => [key.toLowerCase(), rules] as const)
  const employees = Object.fromEntries(entries)
  if (Object.keys(employees).length !== entries.length) {
    throw new ClientError('invalid-rulebook', 'An employee is listed twice.')
  }
  const encoded = policySchema.safeEncode({ ...policy, employees })
  if (encoded.success) return { ...policy, employees }
  const paths = encoded.error.issues.map((issue) => issue.path.join('.'))
  throw new ClientError('invalid-rulebook', `The rulebook is malformed: ${paths.join(', ')}.`)
}
