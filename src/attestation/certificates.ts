// Certificate chains (RFC 5280) of ECDSA keys, as vendors of hardware sign attestation with.
import type { Bytes } from '../protocol/hex.js'
import { ascii, hexText } from './bytes.js'
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

/** ECDSA on a curve of so many bits, with a hash of as many. */
export interface Suite {
  readonly bits: number
  /** DER in hex: the signature's algorithm, and all but the point of a key that is not compressed. */
  readonly algorithm: string
  readonly keyHead: string
}

export const ES384: Suite = {
  bits: 384,
  algorithm: '300a06082a8648ce3d040303',
  keyHead: '3076301006072a8648ce3d020106052b81040022036200',
}

/** DER in hex. */
const VERSION_3 = 'a003020102'
/** Object identifiers of the extensions that are judged, and what holds without them. */
const KEY_USAGE = '0603551d0f'
const BASIC_CONSTRAINTS = '0603551d13'
const NO_USAGE = '03020000'
const NO_AUTHORITY = '3000'
const TRUE = '0101ff'
/** Bits of a key's usage. */
const DIGITAL_SIGNATURE = 0x80
const KEY_CERT_SIGN = 0x04

/** Bytes, and their signature of ECDSA as `r ‖ s`. */
export interface Signed {
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
export async function verifyChain(chain: readonly Bytes[], now: number, suite: Suite): Promise<Certificate> {
  const certificates = chain.map((der) => readCertificate(der, suite))
  let issuer: Certificate | undefined
  for (const [index, certificate] of certificates.entries()) {
    if (issuer !== undefined) {
      demand(certificate.issuer === issuer.subject, 'broken-chain')
      demand(await isSignedBy(issuer.key, certificate, suite), 'broken-chain')
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

/** Not by a point beside the curve, with which WebKit fails here and other engines at the import. */
export async function isSignedBy(
  point: Bytes,
  { signed, signature }: Signed,
  { bits }: Suite,
): Promise<boolean> {
  const algorithm = { name: 'ECDSA', namedCurve: `P-${bits}`, hash: `SHA-${bits}` }
  const key = await crypto.subtle.importKey('raw', point, algorithm, false, ['verify']).catch(() => undefined)
  return key !== undefined && crypto.subtle.verify(algorithm, key, signature, signed)
}

/** @throws AttestationError `malformed-evidence`, `unsupported-algorithm` */
export function readCertificate(der: Bytes, suite: Suite): Certificate {
  const [body, algorithm, signature, ...beside] = sequenceIn(der)
  const signed = wholeOf(body)
  const [version, , inner, issuer, validity, subject, key, extensions, ...after] = sequenceIn(signed)
  demand(hexOf(version) === VERSION_3 && beside.length + after.length === 0)
  const isKnown = hexOf(algorithm) === suite.algorithm && hexOf(inner) === suite.algorithm
  demand(isKnown && hexOf(key).startsWith(suite.keyHead), 'unsupported-algorithm')
  const [notBefore, notAfter] = sequenceIn(wholeOf(validity))
  return {
    ...extensionsOf(contentOf(extensions, EXTENSIONS)),
    signed,
    signature: signatureOf(signature, suite),
    issuer: hexOf(issuer),
    subject: hexOf(subject),
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
    key: wholeOf(key).subarray(suite.keyHead.length / 2),
  }
}

export function wholeOf(element: Element | undefined): Bytes {
  demand(element !== undefined)
  return element.whole
}

export function hexOf(element: Element | undefined): string {
  return hexText(wholeOf(element))
}

/** Unix milliseconds of a UTCTime, which leaves out the century from 1950 on, or of a GeneralizedTime. */
export function timeOf(element: Element | undefined): number {
  demand(element !== undefined)
  const { tag, content } = element
  const text = ascii(content)
  const full = tag === UTC_TIME ? (text < '5' ? '20' : '19') + text : text
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3T$4:$5:$6')
  const time = Date.parse(iso)
  demand((tag === UTC_TIME || tag === GENERALIZED_TIME) && iso !== full && time > 0)
  return time
}

/** The two numbers of a signature, each in its full width. */
export function signatureOf(element: Element | undefined, { bits }: Suite): Bytes {
  const content = contentOf(element, BIT_STRING)
  const scalarBytes = bits / 8
  const numbers = sequenceIn(content.subarray(1)).map((number) => contentOf(number, INTEGER))
  demand(content[0] === 0 && numbers.length === 2)
  const signature = new Uint8Array(2 * scalarBytes)
  for (const [index, number] of numbers.entries()) {
    const [first = 0x80, second = 0x80] = number
    // Neither negative nor longer than it needs to be.
    demand(first < 0x80 && (first > 0 || second >= 0x80))
    const digits = first === 0 ? number.subarray(1) : number
    demand(digits.length <= scalarBytes)
    signature.set(digits, (index + 1) * scalarBytes - digits.length)
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
    isUnderstood &&= !isCritical || name === KEY_USAGE || name === BASIC_CONSTRAINTS
  }
  const [, usage = ''] = matchOf(values.get(KEY_USAGE) ?? NO_USAGE, /^03020[0-7](..)$/)
  // An authority without a limit has that of its `true`, 255.
  const [, any = '-1', length = any] = matchOf(
    values.get(BASIC_CONSTRAINTS) ?? NO_AUTHORITY,
    /^30(?:00|030101(ff)|060101ff0201([0-7].))$/,
  )
  return { pathLength: Number.parseInt(length, 16), usage: Number.parseInt(usage, 16), isUnderstood }
}

/** The parts of an extension's value in the one form that DER has for it. */
function matchOf(value: string, form: RegExp): RegExpExecArray {
  const match = form.exec(value)
  demand(match !== null)
  return match
}
