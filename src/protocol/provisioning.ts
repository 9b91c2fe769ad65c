// What holders of shares and an enclave that is starting say to each other: docs/attestation.md.

import { sha256 } from '@noble/hashes/sha2.js'
import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { attestationSchema } from './attestation.js'
import { type Envelope, type EnvelopePlace, type EnvelopeRandomness, open, seal } from './envelope.js'
import { provisionEnvelopeSchema } from './envelopeForm.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytesToHex, concatBytes, type Hex, hexOf, hexToBytes } from './hex.js'
import { domainBytes, type IntentDomain } from './intentDomain.js'
import { MAX_HOLDERS } from './masterShare.js'
import { isPoint } from './point.js'
import { addressOfPublicKey, compressPoint } from './publicKey.js'
import { assertSignedBy, signatureSchema } from './signature.js'
import { signDigest } from './signDigest.js'

/** Begins what a holder signs, and what the first one signs for a founding. */
const DOMAIN = 'service-provisioning-v1'
const FOUNDING_DOMAIN = 'service-founding-v1'

/** A holder, by her compressed public key. */
export const holderSchema = /* @__PURE__ */ hexOf(33).check(z.refine(isPoint, 'not a point on secp256k1'))

/** `GET /provisioning`: the evidence and the statement of an enclave that waits for its keys. */
export const provisioningSchema = attestationSchema

/** `POST /provisioning/founding`. The signature is the first holder's, by `signFounding`. */
export const foundingRequestSchema = /* @__PURE__ */ z.strictObject({ signature: signatureSchema })

/** Its answer: the evidence is about the shares, in the order of the holders. */
export const foundingSchema = /* @__PURE__ */ z.object({
  ...attestationSchema.shape,
  shares: z.array(provisionEnvelopeSchema).check(z.minLength(2), z.maxLength(MAX_HOLDERS)),
})
export type Founding = z.output<typeof foundingSchema>

/** `POST /provisioning`: a holder's share, and with the owner's the broker's keys. */
export const provisionSchema = /* @__PURE__ */ z.strictObject({
  holder: holderSchema,
  /** `share-for-enclave` */
  envelope: provisionEnvelopeSchema,
  /** `broker-keys-for-enclave` */
  brokerKeys: z.optional(provisionEnvelopeSchema),
  /** The holder's, of `provisionDigest`. */
  signature: signatureSchema,
})
export type Provision = z.output<typeof provisionSchema>

/** Its answer. */
export const provisionedSchema = /* @__PURE__ */ z.object({
  /** Holders whose shares the enclave has. */
  given: z.array(holderSchema),
  /** Shares that make the key. */
  threshold: z.int(),
  /** Whether it has the broker's keys. */
  hasBrokerKeys: z.boolean(),
  /** Whether it has all that it needs, and its keys: where not, with as many shares as it takes, one of them is false. */
  isReady: z.boolean(),
})
export type Provisioned = z.output<typeof provisionedSchema>

/** Printable ASCII, as the broker issues them. */
const brokerKey = () => z.string().check(z.regex(/^[!-~]{1,128}$/, 'expected 1 to 128 printable characters'))
export const brokerKeysSchema = /* @__PURE__ */ z.strictObject({
  v: z.literal(1),
  keyId: brokerKey(),
  secretKey: brokerKey(),
})
export type BrokerKeys = z.output<typeof brokerKeysSchema>

/** Names the shares of a founding in the enclave's statement: `0x` and the SHA-256 of their canonical JSON. */
export function sharesDigest(shares: readonly Envelope[]): Hex {
  return bytesToHex(sha256(utf8(canonicalize(shares) ?? '')))
}

/**
 * What a holder signs: SHA-256 of `utf8("service-provisioning-v1") ‖ enclaveKey ‖ utf8(canonical JSON of the envelopes)`. So it is for one
 * start of one enclave.
 * @param enclaveKey the key in the enclave's evidence
 */
export function provisionDigest(
  { envelope, brokerKeys }: Pick<Provision, 'envelope' | 'brokerKeys'>,
  enclaveKey: Hex,
): Hex {
  const envelopes = utf8(canonicalize({ envelope, brokerKeys }) ?? '')
  return bytesToHex(sha256(concatBytes(utf8(DOMAIN), compressPoint(enclaveKey), envelopes)))
}

/** @param privateKey the holder's */
export function signProvision(
  envelopes: Pick<Provision, 'envelope' | 'brokerKeys'>,
  enclaveKey: Hex,
  privateKey: Hex,
): Hex {
  return signDigest(provisionDigest(envelopes, enclaveKey), privateKey)
}

/** @throws ProtocolError `invalid-signature`, or `wrong-signer` unless the holder signed it for this enclave's key */
export function assertProvisionSigned(provision: Provision, enclaveKey: Hex): void {
  const signer = addressOfPublicKey(hexToBytes(provision.holder))
  assertSignedBy(signer, provisionDigest(provision, enclaveKey), provision.signature)
}

/** SHA-256 of `utf8("service-founding-v1") ‖ enclaveKey`: one start of one enclave draws a master key at the first holder's word alone. */
function foundingDigest(enclaveKey: Hex): Hex {
  return bytesToHex(sha256(concatBytes(utf8(FOUNDING_DOMAIN), compressPoint(enclaveKey))))
}

/**
 * @param enclaveKey the key in the enclave's evidence
 * @param privateKey the first holder's
 */
export function signFounding(enclaveKey: Hex, privateKey: Hex): Hex {
  return signDigest(foundingDigest(enclaveKey), privateKey)
}

/** @throws ProtocolError `invalid-signature`, or `wrong-signer` unless the holder signed it for this enclave's key */
export function assertFoundingSigned(signature: Hex, enclaveKey: Hex, holder: Hex): void {
  assertSignedBy(addressOfPublicKey(hexToBytes(holder)), foundingDigest(enclaveKey), signature)
}

/** @param enclaveKey the key in the enclave's evidence */
export function sealBrokerKeys(
  keys: BrokerKeys,
  enclaveKey: Hex,
  domain: IntentDomain,
  randomness?: EnvelopeRandomness,
): Promise<Envelope> {
  return seal(keys, enclaveKey, placeOf(domain), randomness)
}

/** @throws ProtocolError `undecryptable`, `invalid-point`, `invalid-plaintext` */
export async function openBrokerKeys(
  envelope: Envelope,
  privateKey: Bytes,
  domain: IntentDomain,
): Promise<BrokerKeys> {
  const { data } = brokerKeysSchema.safeParse(await open(envelope, privateKey, placeOf(domain)))
  if (data === undefined)
    throw new ProtocolError('invalid-plaintext', "the plaintext is not the broker's keys")
  return data
}

function placeOf(domain: IntentDomain): EnvelopePlace {
  return { kind: 'broker-keys-for-enclave', context: domainBytes(domain) }
}

function utf8(text: string): Bytes {
  return Uint8Array.from(new TextEncoder().encode(text))
}
