// Certificate chains (RFC 5280) of ECDSA keys on P-384, as AWS signs attestation documents with.
import type { Bytes } from '../protocol/hex.js'
import { hexText } from './bytes.js'
import {
  BIT_STRING,
  contentOf,
  type Element,
  EXTENSIONS,
  GENERALIZED_TIME,
  INTEGER,
  OCTET_STRING,
  sequenceIn,
  UTC_TIME,
} from './der.js'
import { demand } from './errors.js'

const P384 = { name: 'ECDSA', namedCurve: 'P-384' }
/** The width of a number of the curve. */
const SCALAR_BYTES = 48

/** DER in hex: version 3, `ecdsa-with-SHA384`, and all but the point of a key on P-384 that is not compressed. */
const VERSION_3 = 'a003020102'
const ECDSA_WITH_SHA384 = '300a06082a8648ce3d040303'
const P384_KEY = '3076301006072a8648ce3d020106052b81040022036200'
/** Extensions that are judged, by their object identifiers, in the forms that DER has for them. */
const KEY_USAGE = { oid: '0603551d0f', form: /^03020[0-7](..)$/ }
const BASIC_CONSTRAINTS = { oid: '0603551d13', form: /^30(?:00|03(0101ff)|06(0101ff)0201([0-7].))$/ }
const TRUE = '0101ff'
/** Bits of a key's usage. */
const DIGITAL_SIGNATURE = 0x80
const KEY_CERT_SIGN = 0x04

/** Bytes, and their signature of ECDSA with SHA-384 as `r ‖ s`. */
interface Signed {
  readonly signed: Bytes
  readonly signature: Bytes
}

export interface Certificate extends Signed {
  readonly issuer: string
  readonly subject: string
  /** Unix milliseconds, inclusive. */
  readonly notBefore: number
  readonly notAfter: number
  /** The point, uncompressed. */
  readonly key: Bytes
  /** How many authorities may follow in a chain: -1 where it is none. */
  readonly pathLength: number
  /** Bits; none without the extension, which RFC 5280 would take for all. */
  readonly usage: number
  /** Whether every extension that is marked as critical is judged. */
  readonly isUnderstood: boolean
}

/**
 * Verifies that each certificate is signed by the one before it, in force, and used for what it is for.
 * @param chain the root, which the caller trusts, then the intermediate ones, then the leaf: at least two
 * @param now Unix milliseconds
 * @returns the leaf
 * @throws AttestationError `malformed-evidence`, `unsupported-algorithm`, `broken-chain`, `certificate-expired`, `certificate-misused`
 */
export async function verifyChain(chain: readonly Bytes[], now: number): Promise<Certificate> {
  const certificates = chain.map(readCertificate)
  let issuer: Certificate | undefined
  for (const [index, certificate] of certificates.entries()) {
    if (issuer !== undefined) {
      demand(certificate.issuer === issuer.subject, 'broken-chain')
      demand(await isSignedBy(issuer, certificate), 'broken-chain')
    }
    demand(isInForce(certificate, now), 'certificate-expired')
    demand(isFit(certificate, certificates.length - 2 - index), 'certificate-misused')
    issuer = certificate
  }
  demand(issuer !== undefined)
  return issuer
}

export function isInForce({ notBefore, notAfter }: Certificate, time: number): boolean {
  return notBefore <= time && time <= notAfter
}

/** @param followers how many authorities follow in the chain; negative for the leaf */
function isFit({ isUnderstood, pathLength, usage }: Certificate, followers: number): boolean {
  if (!isUnderstood) return false
  if (followers < 0) return pathLength < 0 && (usage & DIGITAL_SIGNATURE) > 0
  return pathLength >= followers && (usage & KEY_CERT_SIGN) > 0
}

/** @throws AttestationError `malformed-evidence` where the certificate's point is not on the curve */
export async function isSignedBy(
  { key: point }: Certificate,
  { signed, signature }: Signed,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', point, P384, false, ['verify']).catch(() => null)
  demand(key !== null)
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-384' }, key, signature, signed)
}

function readCertificate(der: Bytes): Certificate {
  const [body, algorithm, signature, ...beside] = sequenceIn(der)
  const signed = wholeOf(body)
  const [version, , inner, issuer, validity, subject, key, extensions, ...after] = sequenceIn(signed)
  demand(hexOf(version) === VERSION_3 && beside.length + after.length === 0)
  const isKnown = hexOf(algorithm) === ECDSA_WITH_SHA384 && hexOf(inner) === ECDSA_WITH_SHA384
  demand(isKnown && hexOf(key).startsWith(P384_KEY), 'unsupported-algorithm')
  const [notBefore = Number.NaN, notAfter = Number.NaN] = sequenceIn(wholeOf(validity)).map(timeOf)
  return {
    ...extensionsOf(contentOf(extensions, EXTENSIONS)),
    signed,
    signature: signatureOf(contentOf(signature, BIT_STRING)),
    issuer: hexOf(issuer),
    subject: hexOf(subject),
    notBefore,
    notAfter,
    key: wholeOf(key).subarray(P384_KEY.length / 2),
  }
}

function wholeOf(element: Element | undefined): Bytes {
  demand(element !== undefined)
  return element.whole
}

function hexOf(element: Element | undefined): string {
  return hexText(wholeOf(element))
}

/** Unix milliseconds of a UTCTime, which leaves out the century from 1950 on, or of a GeneralizedTime. */
function timeOf({ tag, content }: Element): number {
  const text = String.fromCharCode(...content)
  const full = tag === UTC_TIME ? (text < '5' ? '20' : '19') + text : text
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3T$4:$5:$6')
  const time = Date.parse(iso)
  demand((tag === UTC_TIME || tag === GENERALIZED_TIME) && iso !== full && time > 0)
  return time
}

/** The two numbers of a signature, each in its full width. */
function signatureOf(bits: Bytes): Bytes {
  demand(bits[0] === 0)
  const numbers = sequenceIn(bits.subarray(1)).map((number) => contentOf(number, INTEGER))
  demand(numbers.length === 2)
  const signature = new Uint8Array(2 * SCALAR_BYTES)
  for (const [index, number] of numbers.entries()) {
    const [first = 0x80, second = 0x80] = number
    // Neither negative nor longer than it needs to be.
    demand(first < 0x80 && (first > 0 || second >= 0x80))
    const digits = first === 0 ? number.subarray(1) : number
    demand(digits.length <= SCALAR_BYTES)
    signature.set(digits, (index + 1) * SCALAR_BYTES - digits.length)
  }
  return signature
}

function extensionsOf(content: Bytes): Pick<Certificate, 'pathLength' | 'usage' | 'isUnderstood'> {
  const values = new Map<string, string>()
  let isUnderstood = true
  for (const extension of sequenceIn(content)) {
    const [oid, ...parts] = sequenceIn(extension.whole)
    const name = hexOf(oid)
    const isCritical = parts.length === 2
    demand(!values.has(name) && (isCritical ? hexOf(parts[0]) === TRUE : parts.length === 1))
    values.set(name, hexText(contentOf(parts.at(-1), OCTET_STRING)))
    isUnderstood &&= !isCritical || name === KEY_USAGE.oid || name === BASIC_CONSTRAINTS.oid
  }
  const [, usage = '0'] = matchOf(KEY_USAGE, values)
  const [, any, some, length = ''] = matchOf(BASIC_CONSTRAINTS, values)
  const pathLength = any ? Number.POSITIVE_INFINITY : some ? Number.parseInt(length, 16) : -1
  return { pathLength, usage: Number.parseInt(usage, 16), isUnderstood }
}

/** The value of an extension in its form, or nothing where there is no such extension. */
function matchOf({ oid, form }: typeof KEY_USAGE, values: ReadonlyMap<string, string>) {
  const value = values.get(oid)
  const match = form.exec(value ?? '')
  demand(value === undefined || match !== null)
  return match ?? []
}
