// Certificates and lists of revoked ones of a test root, in the form of Intel's.
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { concatBytes } from '../../../src/protocol/hex.js'
import { commonName, der, integer, sequence } from '../../../src/simulator/device/encode.js'
import * as make from '../documents.js'

const jwk = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), d: z.string() })
const NAMES = ['root', 'authority', 'processor', 'signer', 'quoter', 'stranger'] as const
export type KeyName = (typeof NAMES)[number]
const { keys } = z
  .object({ keys: z.record(z.enum(NAMES), jwk) })
  .parse(
    JSON.parse(
      readFileSync(new URL('../../../test/vectors/attestationTdxKeys.json', import.meta.url), 'utf8'),
    ),
  )

const ECDSA_WITH_SHA256 = '300a06082a8648ce3d040302'
const SGX = '2a864886f84d010d01'

export async function sign(name: KeyName, data: Uint8Array): Promise<Uint8Array> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('jwk', keys[name], algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, Uint8Array.from(data)))
}

/** The two numbers of a key's point. */
export const numbersOf = (name: KeyName) =>
  concatBytes(...[keys[name].x, keys[name].y].map((text) => Uint8Array.from(Buffer.from(text, 'base64url'))))

async function sealed(signed: Uint8Array, signer: KeyName): Promise<Uint8Array> {
  const signature = await sign(signer, signed)
  const numbers = make.sealedBy(integer(signature.slice(0, 32)), integer(signature.slice(32)))
  return sequence(signed, ECDSA_WITH_SHA256, numbers)
}

export interface CertificateParts {
  readonly subject: KeyName
  readonly issuer: KeyName
  readonly signer: KeyName
  readonly serial: number
  readonly notAfter: number
  readonly extensions: readonly Uint8Array[]
}

const { NOW, HOUR } = make
const YEAR = 365 * 24 * HOUR
const authority = (pathLength: number) => [make.authority(pathLength), make.CERT_SIGN]
export const LEAF = [make.NO_AUTHORITY, make.DIGITAL_SIGNATURE]

const octets = (hex: string) => der(0x04, hex)
const value = (end: string, content: Uint8Array) => sequence(der(0x06, `${SGX}${end}`), content)

export interface Firmware {
  readonly fmspc: string
  readonly pceId: string
  readonly svns: readonly number[]
  readonly pceSvn: number
}
export const FIRMWARE: Firmware = {
  fmspc: 'a0b1c2d3e4f5',
  pceId: '0000',
  svns: [...[5, 5, 2, 2, 3, 1, 0, 5], ...Array(8).fill(0)],
  pceSvn: 11,
}

/** Intel's extension of a processor's certificate. */
export function firmware({ fmspc, pceId, svns, pceSvn }: Firmware): Uint8Array {
  const number = (at: number) => integer(Uint8Array.of(at))
  const levels = svns.map((svn, index) =>
    value(`02${(index + 1).toString(16).padStart(2, '0')}`, number(svn)),
  )
  const tcb = sequence(...levels, value('0211', number(pceSvn)), value('0212', octets('00'.repeat(16))))
  return sequence(
    der(0x06, SGX),
    octets(
      Buffer.from(
        sequence(
          ...[value('01', octets('00'.repeat(16))), value('02', tcb)],
          ...[value('03', octets(pceId)), value('04', octets(fmspc))],
        ),
      ).toString('hex'),
    ),
  )
}

const PARTS = {
  // Longer than the vectors need it: a machine of today descends from it, too.
  root: { issuer: 'root', serial: 1, notAfter: NOW + 20 * YEAR, extensions: authority(1) },
  authority: { issuer: 'root', serial: 2, extensions: authority(0) },
  processor: { issuer: 'authority', serial: 3, extensions: [...LEAF, firmware(FIRMWARE)] },
  signer: { issuer: 'root', serial: 4, extensions: LEAF },
} as const
export type Certified = keyof typeof PARTS

/** The root's: signatures differ each time, and its digest is what a verifier trusts. */
let root: Promise<Uint8Array> | undefined

export function certificate(name: Certified, changes?: Partial<CertificateParts>): Promise<Uint8Array> {
  if (name !== 'root' || changes !== undefined) return signedCertificate(name, changes)
  root ??= signedCertificate(name)
  return root
}

function signedCertificate(name: Certified, changes: Partial<CertificateParts> = {}): Promise<Uint8Array> {
  const { issuer } = PARTS[name]
  const parts: CertificateParts = {
    ...{ subject: name, signer: issuer, notAfter: NOW + YEAR, ...PARTS[name] },
    ...changes,
  }
  const key = sequence(
    '301306072a8648ce3d020106082a8648ce3d030107',
    der(0x03, '00', Uint8Array.of(4), numbersOf(name)),
  )
  const signed = sequence(
    ...['a003020102', integer(Uint8Array.of(parts.serial)), ECDSA_WITH_SHA256],
    ...[commonName(parts.issuer), sequence(make.time(NOW - YEAR), make.time(parts.notAfter))],
    ...[commonName(parts.subject), key, der(0xa3, sequence(...parts.extensions))],
  )
  return sealed(signed, parts.signer)
}

export interface ListParts {
  readonly issuer: KeyName
  readonly signer: KeyName
  readonly from: number
  readonly until: number
  readonly revoked: readonly number[]
}

const DAY = 24 * HOUR
/** A list of revoked certificates, by serial numbers. */
export function revocations(
  issuer: KeyName,
  { revoked = [], from = NOW - DAY, until = NOW + 29 * DAY, ...others }: Partial<ListParts> = {},
): Promise<Uint8Array> {
  const entries = revoked.map((serial) => sequence(integer(Uint8Array.of(serial)), make.time(NOW - DAY)))
  const signed = sequence(
    ...['020101', ECDSA_WITH_SHA256, commonName(others.issuer ?? issuer), make.time(from), make.time(until)],
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    der(0xa0, sequence(sequence('0603551d14', der(0x04, '020101')))),
  )
  return sealed(signed, others.signer ?? issuer)
}
