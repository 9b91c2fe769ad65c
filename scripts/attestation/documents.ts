// Attestation documents of a test root, in the format of AWS, each with a fault or without one.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { concatBytes } from '../../src/protocol/hex.js'
import { cbor, commonName, der, type Item, integer, Pairs, sequence } from './encode.js'

const jwk = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), d: z.string() })
const NAMES = ['root', 'intermediate', 'leaf', 'stranger'] as const
type KeyName = (typeof NAMES)[number]
const keysSchema = z.object({ keys: z.record(z.enum(NAMES), jwk) })
const { keys } = keysSchema.parse(
  JSON.parse(readFileSync(new URL('../../test/vectors/attestationKeys.json', import.meta.url), 'utf8')),
)

const P384 = { name: 'ECDSA', namedCurve: 'P-384' }
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

async function sign(name: KeyName, data: Uint8Array): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('jwk', keys[name], P384, false, ['sign'])
  const algorithm = { name: 'ECDSA', hash: 'SHA-384' }
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, Uint8Array.from(data)))
}

export const point = (name: KeyName) =>
  concatBytes(
    Uint8Array.of(4),
    ...[keys[name].x, keys[name].y].map((number) => Uint8Array.from(Buffer.from(number, 'base64url'))),
  )

/** What a certificate says, and who signs it. */
export interface CertificateParts {
  readonly subject: string
  readonly issuer: string
  readonly signer: KeyName
  readonly key: Uint8Array
  /** Unix milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
  readonly isLongTime: boolean
  /** DER of the algorithm in hex. */
  readonly algorithm: string
  readonly extensions: readonly Uint8Array[]
  /** The bit string of its signature. */
  readonly sealed: (r: Uint8Array, s: Uint8Array) => Uint8Array
}

/** A signature's two numbers, in a bit string that is whole. */
export const sealedBy = (...numbers: Uint8Array[]) => der(0x03, '00', sequence(...numbers))

/** A P-384 key as a certificate has it. */
export const publicKey = (bytes: Uint8Array) =>
  sequence('301006072a8648ce3d020106052b81040022', der(0x03, '00', bytes))

export function time(at: number, isLong = false): Uint8Array {
  const digits = `${new Date(at)
    .toISOString()
    .replace(/\D/g, '')
    .slice(isLong ? 0 : 2, 14)}Z`
  return der(isLong ? 0x18 : 0x17, new TextEncoder().encode(digits))
}

async function certificate(parts: CertificateParts): Promise<Uint8Array> {
  const { isLongTime } = parts
  const signed = sequence(
    'a003020102',
    integer(Uint8Array.of(1)),
    parts.algorithm,
    commonName(parts.issuer),
    sequence(time(parts.notBefore, isLongTime), time(parts.notAfter, isLongTime)),
    commonName(parts.subject),
    parts.key,
    der(0xa3, sequence(...parts.extensions)),
  )
  const signature = await sign(parts.signer, signed)
  return sequence(signed, parts.algorithm, parts.sealed(signature.slice(0, 48), signature.slice(48)))
}

export const HOUR = 3_600_000
/** When the vectors are verified, unless one says otherwise. */
export const NOW = Date.UTC(2026, 10, 28, 12)
const YEAR = 365 * 24 * HOUR

export type Changes = { readonly [name in 'root' | 'intermediate' | 'leaf']?: Partial<CertificateParts> }

/** The chain of a test root, the root first. */
export function chain(changes: Changes = {}): Promise<Uint8Array[]> {
  const common = {
    algorithm: ECDSA_WITH_SHA384,
    isLongTime: false,
    sealed: (r: Uint8Array, s: Uint8Array) => sealedBy(integer(r), integer(s)),
  }
  const root: CertificateParts = {
    ...common,
    ...{ subject: 'test root', issuer: 'test root', signer: 'root', key: publicKey(point('root')) },
    ...{ notBefore: NOW - YEAR, notAfter: NOW + YEAR, extensions: [authority(), CERT_SIGN] },
  }
  const intermediate: CertificateParts = {
    ...common,
    ...{ subject: 'test zone', issuer: 'test root', signer: 'root', key: publicKey(point('intermediate')) },
    ...{ notBefore: NOW - 24 * HOUR, notAfter: NOW + 24 * HOUR, extensions: [authority(0), CERT_SIGN] },
  }
  const leaf: CertificateParts = {
    ...common,
    ...{ subject: 'i-0-enc0', issuer: 'test zone', signer: 'intermediate', key: publicKey(point('leaf')) },
    ...{
      notBefore: NOW - 2.5 * HOUR,
      notAfter: NOW + 0.5 * HOUR,
      extensions: [NO_AUTHORITY, DIGITAL_SIGNATURE],
    },
  }
  return Promise.all([
    certificate({ ...root, ...changes.root }),
    certificate({ ...intermediate, ...changes.intermediate }),
    certificate({ ...leaf, ...changes.leaf }),
  ])
}

/** Registers of 48 equal bytes. */
export const register = (byte: number) => new Uint8Array(48).fill(byte)
export const REGISTERS: readonly (readonly [Item, Item])[] = [0, 1, 2, 3, 4, 8, 12].map((index) => [
  index,
  register(index + 1),
])

export interface DocumentParts {
  readonly chain: readonly Uint8Array[]
  /** Members that replace those of the same name; undefined leaves one out. */
  readonly members: Readonly<Record<string, Item | undefined>>
  readonly length: 'definite' | 'indefinite'
  readonly signer: KeyName
}

/** The document that attests `userData`, unsigned. */
export function payload(userData: Uint8Array, parts: Partial<DocumentParts> & Pick<DocumentParts, 'chain'>) {
  const members: Readonly<Record<string, Item | undefined>> = {
    module_id: 'i-0-enc0',
    digest: 'SHA384',
    timestamp: NOW - 60_000,
    pcrs: new Pairs(REGISTERS),
    certificate: parts.chain.at(-1),
    cabundle: parts.chain.slice(0, -1),
    public_key: null,
    user_data: userData,
    nonce: null,
    ...parts.members,
  }
  const pairs = Object.entries(members).flatMap(([name, item]) =>
    item === undefined ? [] : [[name, item] as const],
  )
  return cbor(new Pairs(pairs, parts.length ?? 'indefinite'))
}

export const ES384 = cbor(new Pairs([[1, -35]]))

/** A `COSE_Sign1` of the payload. */
export async function document(
  content: Uint8Array,
  signer: KeyName = 'leaf',
  header = ES384,
): Promise<Item[]> {
  const signature = await sign(signer, cbor(['Signature1', header, new Uint8Array(), content]))
  return [header, new Pairs([]), content, signature]
}
