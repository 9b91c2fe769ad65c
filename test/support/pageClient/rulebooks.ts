// Publishing an institution's rulebook: section 12 of docs/protocol.md.
import { type Hex, toHex } from './bytes.js'
import type { Chain } from './chain.js'
import { signDigest } from './curve.js'
import { type Envelope, hashOfEnvelope, seal } from './envelope.js'
import type { Http } from './http.js'
import { integerOf } from './json.js'
import { type Policy, type Rulebook, rulebookDigest, sealedRulebookDigest } from './typedData.js'
import { sameBytes, type Venue } from './venue.js'

export function sealRulebook(venue: Venue, rulebook: Rulebook, walletKey: Uint8Array): Envelope {
  const sig = toHex(signDigest(walletKey, rulebookDigest(venue, rulebook)))
  return seal('policy', { ...rulebook, sig }, venue.enclaveKey)
}

/** The body of `POST /policy`: the envelope, and the admin's signature of its hash. */
export function withAuthor(venue: Venue, { orgId }: Rulebook, envelope: Envelope, walletKey: Uint8Array) {
  const sig = toHex(signDigest(walletKey, sealedRulebookDigest(venue, orgId, hashOfEnvelope(envelope))))
  return { ...envelope, author: { orgId, sig } }
}

/** The version of the rulebook in force, 0 before the first. */
export async function rulebookVersion(http: Http, orgId: Hex): Promise<number> {
  const answer = await http.get(`/policy/${orgId}`)
  if (!answer) throw new Error('no answer')
  return integerOf(answer.body, 'version')
}

/**
 * Publishes the whole rulebook of the wallet's institution; resolves with its version.
 * @throws ProblemError when the enclave rejects it
 */
export async function publish(
  { chain, http, venue, walletKey }: { chain: Chain; http: Http; venue: Venue; walletKey: Uint8Array },
  policy: Policy,
): Promise<number> {
  const orgId = await chain.readBytes(venue.registry, 'orgOf', [chain.account])
  const admin = await chain.readBytes(venue.registry, 'adminOf', [orgId])
  if (!sameBytes(admin, chain.account)) throw new Error('the wallet is not the admin')
  const version = (await rulebookVersion(http, orgId)) + 1
  const rulebook: Rulebook = { v: 1, orgId, admin: chain.account, policy, version }
  const body = withAuthor(venue, rulebook, sealRulebook(venue, rulebook, walletKey), walletKey)
  return integerOf(await http.post('/policy', body), 'version')
}
