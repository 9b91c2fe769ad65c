// Attestation documents of AWS: of Nitro Enclaves and of machines with NitroTPM, which share root and format.
// https://docs.aws.amazon.com/enclaves/latest/user/verify-root.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/nitrotpm-attestation-document-validate.html
import type { Bytes } from '../protocol/hex.js'
import { hexText, latin1, sha256 } from './bytes.js'
import { type CborMap, isBytes, isList, isMap, readCbor } from './cbor.js'
import { ES384, isInForce, isSignedBy, verifyChain } from './certificates.js'
import { demand } from './errors.js'

/** SHA-256 of the DER of AWS's root certificate "aws.nitro-enclaves", in force until 2049. */
export const AWS_NITRO_ROOT = '641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b'

/** The maps of registers, by kind of machine. A document has one of them. */
const REGISTER_MAPS = ['pcrs', 'nitrotpm_pcrs'] as const
export type RegisterMap = (typeof REGISTER_MAPS)[number] | 'tdx'

/** Registers by number: SHA-384 in 96 digits of hex in lower case, as AWS's tools print them. */
export type Registers = Readonly<Record<string, string>>

/** What evidence says, in the words of RFC 9334, once its signatures are verified. */
export interface Claims {
  readonly map: RegisterMap
  readonly registers: Registers
  /** Unix milliseconds: when AWS's hypervisor issued the document; for dstack, when Intel signed the firmware levels. */
  readonly issuedAt: number
  /** Both in lower-case hex without `0x`; empty without any. */
  readonly userData: string
  readonly nonce: string
}

/** The age up to which a document is believed, by the verifier's clock, and how far that clock may be behind. A new one is due each hour. */
const MAX_AGE_MS = 7_200_000
const MAX_CLOCK_LAG_MS = 300_000
/** More certificates than any chain of AWS has. */
const MAX_CERTIFICATES = 8
/** `{1: -35}`, which is ES384, as bytes. */
const HEADER = 'a1013822'
/** `["Signature1", ` and the head of a header of four bytes: `Sig_structure` of RFC 9052. */
const BEFORE_HEADER = /* @__PURE__ */ latin1('\x84jSignature1D')
const COSE_SIGN1_TAG = 0xd2
/** The value of a register that nothing was measured into. */
export const ZERO_REGISTER = '0'.repeat(96)

/**
 * Verifies a `COSE_Sign1` document, tagged or not.
 * @param trust the digest of the root's certificate, never from the document's sender; `now` in Unix milliseconds
 * @throws AttestationError with a code from `malformed-evidence` to `outdated`
 */
export async function verifyNitro(
  evidence: Bytes,
  { root, now }: { readonly root: string; readonly now: number },
): Promise<Claims> {
  const document = readDocument(evidence)
  demand((await sha256(document.chain[0] ?? new Uint8Array())) === root, 'unknown-root')
  const leaf = await verifyChain(document.chain, now, ES384)
  demand(await isSignedBy(leaf.key, document, ES384), 'invalid-signature')
  const { map, registers, issuedAt } = document
  // The other registers of an enclave in debug mode are set.
  demand(map !== 'pcrs' || [0, 1, 2].some((index) => registers[index] !== ZERO_REGISTER), 'debug-mode')
  const age = now - issuedAt
  const isFresh = -MAX_CLOCK_LAG_MS <= age && age <= MAX_AGE_MS
  demand(isFresh && isInForce(leaf, issuedAt), 'outdated')
  return document
}

function readDocument(evidence: Bytes) {
  const sign1 = readCbor(evidence[0] === COSE_SIGN1_TAG ? evidence.subarray(1) : evidence)
  demand(isList(sign1) && sign1.length === 4)
  const [header, unprotected, payload, signature] = sign1
  demand(isBytes(header) && isBytes(payload) && isBytes(signature))
  demand(isMap(unprotected) && unprotected.size === 0)
  demand(hexText(header) === HEADER && signature.length === 96, 'unsupported-algorithm')
  // A shorter one has no room for a chain.
  demand(payload.length > 0xff && payload.length <= 0xffff)
  // No further data, and a length of two bytes.
  const between = [...header, 0x40, 0x59, payload.length >> 8, payload.length & 0xff]
  const signed = Uint8Array.of(...BEFORE_HEADER, ...between, ...payload)
  return { ...readPayload(payload), signature, signed }
}

function readPayload(payload: Bytes) {
  const document = readCbor(payload)
  demand(isMap(document))
  const issuedAt = document.get('timestamp')
  const hexIn = (name: string) => {
    const bytes = document.get(name) ?? new Uint8Array()
    demand(isBytes(bytes))
    return hexText(bytes)
  }
  demand(typeof issuedAt === 'number' && issuedAt > 0)
  demand(document.get('digest') === 'SHA384', 'unsupported-algorithm')
  const bound = { userData: hexIn('user_data'), nonce: hexIn('nonce') }
  return { ...registersOf(document), ...bound, issuedAt, chain: chainOf(document) }
}

/** The root first and the leaf last, as the document has them. */
function chainOf(document: CborMap): Bytes[] {
  const bundle = document.get('cabundle')
  const leaf = document.get('certificate')
  demand(isList(bundle) && bundle.length > 0 && bundle.length < MAX_CERTIFICATES)
  return [...bundle, leaf].map((certificate) => {
    demand(isBytes(certificate))
    return certificate
  })
}

function registersOf(document: CborMap): Pick<Claims, 'map' | 'registers'> {
  const [map, ...others] = REGISTER_MAPS.filter((name) => document.has(name))
  demand(map !== undefined && others.length === 0)
  const found = document.get(map)
  demand(isMap(found))
  const registers: Record<string, string> = {}
  for (const [index, value] of found) {
    demand(typeof index === 'number' && index >= 0 && index < 32)
    demand(isBytes(value) && value.length === 48)
    registers[index] = hexText(value)
  }
  return { map, registers }
}
