// Attestation documents of a test root, in the format of AWS, each with a fault or without one.
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import {
  authority,
  type CertificateParts as BuiltParts,
  CERT_SIGN,
  certificate,
  DIGITAL_SIGNATURE,
  document as documentOf,
  NO_AUTHORITY,
  P384,
  payload as payloadOf,
  pointOf,
  publicKey,
  type Sign,
  signerOf,
} from '../../src/simulator/device/document.js'
import { type Item, Pairs } from '../../src/simulator/device/encode.js'

export {
  authority,
  CERT_SIGN,
  DIGITAL_SIGNATURE,
  ES384,
  extension,
  NO_AUTHORITY,
  publicKey,
  sealedBy,
  time,
} from '../../src/simulator/device/document.js'

const jwk = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), d: z.string() })
const NAMES = ['root', 'intermediate', 'leaf', 'stranger'] as const
type KeyName = (typeof NAMES)[number]
const keysSchema = z.object({ keys: z.record(z.enum(NAMES), jwk) })
const { keys } = keysSchema.parse(
  JSON.parse(readFileSync(new URL('../../test/vectors/attestationKeys.json', import.meta.url), 'utf8')),
)

const signAs =
  (name: KeyName): Sign =>
  async (data) =>
    signerOf(await crypto.subtle.importKey('jwk', keys[name], P384, false, ['sign']))(data)

export const point = (name: KeyName) => pointOf(keys[name])

/** What a certificate says, and who signs it. */
export interface CertificateParts extends Omit<BuiltParts, 'sign'> {
  readonly signer: KeyName
}

export const HOUR = 3_600_000
/** When the vectors are verified, unless one says otherwise. */
export const NOW = Date.UTC(2026, 10, 28, 12)
const YEAR = 365 * 24 * HOUR

export type Changes = { readonly [name in 'root' | 'intermediate' | 'leaf']?: Partial<CertificateParts> }

/** The chain of a test root, the root first. */
export function chain(changes: Changes = {}): Promise<Uint8Array[]> {
  const root: CertificateParts = {
    ...{ subject: 'test root', issuer: 'test root', signer: 'root', key: publicKey(point('root')) },
    ...{ notBefore: NOW - YEAR, notAfter: NOW + YEAR, extensions: [authority(), CERT_SIGN] },
  }
  const intermediate: CertificateParts = {
    ...{ subject: 'test zone', issuer: 'test root', signer: 'root', key: publicKey(point('intermediate')) },
    ...{ notBefore: NOW - 24 * HOUR, notAfter: NOW + 24 * HOUR, extensions: [authority(0), CERT_SIGN] },
  }
  const leaf: CertificateParts = {
    ...{ subject: 'i-0-enc0', issuer: 'test zone', signer: 'intermediate', key: publicKey(point('leaf')) },
    ...{
      notBefore: NOW - 2.5 * HOUR,
      notAfter: NOW + 0.5 * HOUR,
      extensions: [NO_AUTHORITY, DIGITAL_SIGNATURE],
    },
  }
  const made = [
    { ...root, ...changes.root },
    { ...intermediate, ...changes.intermediate },
    { ...leaf, ...changes.leaf },
  ]
  return Promise.all(made.map(({ signer, ...parts }) => certificate({ ...parts, sign: signAs(signer) })))
}

/** Registers of 48 equal bytes. */
export const register = (byte: number) => new Uint8Array(48).fill(byte)
export const REGISTERS: readonly (readonly [Item, Item])[] = [0, 1, 2, 3, 4, 8, 12, 13].map((index) => [
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
  const members = {
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
  return payloadOf(members, parts.length)
}

/** A `COSE_Sign1` of the payload. */
export function document(content: Uint8Array, signer: KeyName = 'leaf', header?: Uint8Array) {
  return documentOf(content, signAs(signer), header)
}
