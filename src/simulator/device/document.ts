// Attestation documents in the format of AWS, and the certificates of their signers: for the sandbox's device, and for vectors.
import { concatBytes } from '../../protocol/hex.js'
import { cbor, commonName, der, type Item, integer, Pairs, sequence } from './encode.js'

export const P384 = { name: 'ECDSA', namedCurve: 'P-384' }
const ECDSA_WITH_SHA384 = '300a06082a8648ce3d040303'
const OIDS = { keyUsage: '0603551d0f', basicConstraints: '0603551d13', nameConstraints: '0603551d1e' }

export function extension(name: keyof typeof OIDS, value: string, isCritical = true): Uint8Array {
  return sequence(OIDS[name], isCritical ? '0101ff' : '', der(0x04, value))
}

export const CERT_SIGN = extension('keyUsage', '03020186')
export const DIGITAL_SIGNATURE = extension('keyUsage', '03020780')
export const NO_AUTHORITY = extension('basicConstraints', '3000')
export const authority = (pathLength?: number) =>
  extension('basicConstraints', pathLength === undefined ? '30030101ff' : `30060101ff02010${pathLength}`)

/** Signs with a key on P-384, by ECDSA with SHA-384: `r ‖ s`. */
export type Sign = (data: Uint8Array) => Promise<Uint8Array>

export function signerOf(key: CryptoKey): Sign {
  const algorithm = { name: 'ECDSA', hash: 'SHA-384' }
  return async (data) => new Uint8Array(await crypto.subtle.sign(algorithm, key, Uint8Array.from(data)))
}

/** What a certificate says, and who signs it. */
export interface CertificateParts {
  readonly subject: string
  readonly issuer: string
  readonly sign: Sign
  readonly key: Uint8Array
  /** Unix milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
  readonly isLongTime?: boolean
  /** DER of the algorithm in hex. */
  readonly algorithm?: string
  readonly extensions: readonly Uint8Array[]
  /** The bit string of its signature. */
  readonly sealed?: ((r: Uint8Array, s: Uint8Array) => Uint8Array) | undefined
}

/** A signature's two numbers, in a bit string that is whole. */
export const sealedBy = (...numbers: Uint8Array[]) => der(0x03, '00', sequence(...numbers))

/** A P-384 key as a certificate has it. */
export const publicKey = (point: Uint8Array) =>
  sequence('301006072a8648ce3d020106052b81040022', der(0x03, '00', point))

export function time(at: number, isLong = false): Uint8Array {
  const digits = `${new Date(at)
    .toISOString()
    .replace(/\D/g, '')
    .slice(isLong ? 0 : 2, 14)}Z`
  return der(isLong ? 0x18 : 0x17, new TextEncoder().encode(digits))
}

export async function certificate(parts: CertificateParts): Promise<Uint8Array> {
  const { isLongTime = false, algorithm = ECDSA_WITH_SHA384 } = parts
  const { sealed = (r, s) => sealedBy(integer(r), integer(s)) } = parts
  const signed = sequence(
    'a003020102',
    integer(Uint8Array.of(1)),
    algorithm,
    commonName(parts.issuer),
    sequence(time(parts.notBefore, isLongTime), time(parts.notAfter, isLongTime)),
    commonName(parts.subject),
    parts.key,
    der(0xa3, sequence(...parts.extensions)),
  )
  const signature = await parts.sign(signed)
  return sequence(signed, algorithm, sealed(signature.slice(0, 48), signature.slice(48)))
}

/** The payload of a document: these members, without those that are undefined. */
export function payload(
  members: Readonly<Record<string, Item | undefined>>,
  length: Pairs['length'] = 'indefinite',
): Uint8Array {
  const pairs = Object.entries(members).flatMap(([name, item]) =>
    item === undefined ? [] : [[name, item] as const],
  )
  return cbor(new Pairs(pairs, length))
}

export const ES384 = cbor(new Pairs([[1, -35]]))

/** A `COSE_Sign1` of the payload. */
export async function document(content: Uint8Array, sign: Sign, header = ES384): Promise<Item[]> {
  const signature = await sign(cbor(['Signature1', header, new Uint8Array(), content]))
  return [header, new Pairs([]), content, signature]
}

/** The point of a public key, uncompressed. */
export function pointOf({ x = '', y = '' }: JsonWebKey): Uint8Array {
  const bytes = [x, y].map((number) => Uint8Array.from(Buffer.from(number, 'base64url')))
  return concatBytes(Uint8Array.of(4), ...bytes)
}
