// Padding and the sealed envelope: sections 3 and 5 of docs/protocol.md.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { keccak256 } from 'ethers'
import { fromHex, type Hex, toHex, utf8 } from './bytes.js'
import { compressed, publicKeyOf, randomPrivateKey, sharedX } from './curve.js'
import { hexOf, type JsonObject } from './json.js'

export const SCHEME = 'service-ecies-v1'

const CIPHER = 'aes-256-gcm'
const BLOCKS = { order: 256, policy: 256, cancel: 256, notice: 256, 'rulebook-copy': 256, portfolio: 512 }
/** The longest ciphertext that is taken. */
const LIMITS = { order: 4_096, policy: 16_384, cancel: 1_024 }

export type Kind = keyof typeof BLOCKS

export interface Envelope {
  readonly epk: Hex
  readonly iv: Hex
  readonly ct: Hex
  readonly tag: Hex
}

/** The random values, drawn afresh for each envelope. */
export interface Draw {
  readonly ephemeralKey: Uint8Array
  readonly iv: Uint8Array
}

const draw = (): Draw => ({ ephemeralKey: randomPrivateKey(), iv: randomBytes(12) })

/** The JSON text in UTF-8, filled up with spaces to a multiple of the kind's block. */
export function pad(text: string, kind: Kind): Buffer {
  const bytes = utf8(text)
  const length = Math.ceil(bytes.length / BLOCKS[kind]) * BLOCKS[kind]
  return Buffer.concat([bytes, Buffer.alloc(length - bytes.length, ' ')])
}

export function envelopeKey(z: Uint8Array, epk: Uint8Array, recipient: Uint8Array): Buffer {
  const info = Buffer.concat([utf8(SCHEME), epk, recipient])
  return Buffer.from(hkdfSync('sha256', z, Buffer.alloc(0), info, 32))
}

const aadOf = (kind: Kind, context: Uint8Array) => Buffer.concat([utf8(kind), context])

/** Seals a JSON value to the enclave's public key; of what a client sends, a cancel alone has a context. */
export function seal(
  kind: keyof typeof LIMITS,
  value: unknown,
  to: Uint8Array,
  by: Draw = draw(),
  context: Uint8Array = Buffer.alloc(0),
): Envelope {
  return sealText(kind, JSON.stringify(value), to, by, context)
}

/** The same of a text, which need not be JSON. */
export function sealText(
  kind: keyof typeof LIMITS,
  text: string,
  to: Uint8Array,
  by: Draw = draw(),
  context: Uint8Array = Buffer.alloc(0),
): Envelope {
  const plaintext = pad(text, kind)
  if (plaintext.length > LIMITS[kind]) throw new Error(`more than ${LIMITS[kind]} bytes`)
  const epk = publicKeyOf(by.ephemeralKey)
  const key = envelopeKey(sharedX(by.ephemeralKey, to), epk, compressed(to))
  const cipher = createCipheriv(CIPHER, key, by.iv)
  cipher.setAAD(aadOf(kind, context))
  const ct = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return { epk: toHex(epk), iv: toHex(by.iv), ct: toHex(ct), tag: toHex(cipher.getAuthTag()) }
}

/**
 * Opens what was sealed to the private key's owner.
 * @throws Error when it is another's, of another kind or context, or not JSON
 */
export function open(kind: Kind, context: Uint8Array, envelope: Envelope, privateKey: Uint8Array): unknown {
  const epk = compressed(fromHex(envelope.epk))
  const key = envelopeKey(sharedX(privateKey, epk), epk, publicKeyOf(privateKey))
  const decipher = createDecipheriv(CIPHER, key, fromHex(envelope.iv, 12))
  decipher.setAAD(aadOf(kind, context))
  decipher.setAuthTag(fromHex(envelope.tag, 16))
  const plaintext = Buffer.concat([decipher.update(fromHex(envelope.ct)), decipher.final()])
  return JSON.parse(plaintext.toString('utf8'))
}

/** The envelope's hash, which a wallet signs when it posts one: sections 9 and 12. */
export const hashOfEnvelope = ({ epk, iv, tag, ct }: Envelope): Buffer =>
  fromHex(keccak256(Buffer.concat([epk, iv, tag, ct].map((part) => fromHex(part)))), 32)

/** The envelope's commit, which the escrow holds. */
export function commitOf({ ct }: Envelope): Hex {
  return toHex(fromHex(keccak256(fromHex(ct)), 32))
}

export function envelopeOf(value: JsonObject): Envelope {
  return {
    epk: hexOf(value, 'epk'),
    iv: hexOf(value, 'iv'),
    ct: hexOf(value, 'ct'),
    tag: hexOf(value, 'tag'),
  }
}
