// Quotes of Intel TDX, version 4: what a quoting enclave signs of a virtual machine, and the certificates of its processor.
// https://download.01.org/intel-sgx/latest/dcap-latest/linux/docs/Intel_TDX_DCAP_Quoting_Library_API.pdf
import type { Bytes } from '../../protocol/hex.js'
import { concat, hexText, latin1, type Reader, readerOf, sha256 } from '../bytes.js'
import { type Certificate, isSignedBy, type Signed, type Suite } from '../certificates.js'
import { demand } from '../errors.js'

export const ES256: Suite = {
  bits: 256,
  algorithm: '300a06082a8648ce3d040302',
  keyHead: '3059301306072a8648ce3d020106082a8648ce3d030107034200',
}

/** The head of version 4 of TDX, with a key on P-256: SGX and other keys have another one. */
const HEAD = '0400020081000000'
const HEADER_BYTES = 48
const TD_REPORT_BYTES = 584
const QE_REPORT_BYTES = 384
/** Certification data: the quoting enclave's report, in it the processor's certificates as PEM. */
const QE_REPORT = 6
const PEM_CHAIN = 5
const PEM =
  /-----BEGIN CERTIFICATE-----\n((?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{0,64}={0,2})\n-----END CERTIFICATE-----\n?/g
/** The processor's, its authority's and the root's. */
const CHAIN_LENGTH = 3

/** Parts of a report of a TDX machine: their places. */
const TD_REPORT = {
  teeTcbSvn: [0, 16],
  mrSignerSeam: [64, 112],
  seamAttributes: [112, 120],
  tdAttributes: [120, 128],
  mrtd: [136, 184],
  rtmr0: [328, 376],
  rtmr1: [376, 424],
  rtmr2: [424, 472],
  rtmr3: [472, 520],
  reportData: [520, 584],
} as const
/** Parts of the quoting enclave's report. */
const QE = {
  miscSelect: [16, 20],
  attributes: [48, 64],
  mrSigner: [128, 160],
  productId: [256, 258],
  svn: [258, 260],
  reportData: [320, 384],
} as const

type Parts<Places> = { readonly [name in keyof Places]: Bytes }

export interface Quote extends Signed {
  readonly machine: Parts<typeof TD_REPORT>
  readonly quoter: Parts<typeof QE> & Signed
  /** The key that the quoting enclave signs with, and what its report binds beside that. */
  readonly key: Bytes
  readonly bound: Bytes
  /** The root first, and the processor's last. */
  readonly chain: readonly Bytes[]
}

/** @throws AttestationError `malformed-evidence`, or `unsupported-algorithm` for other versions, keys and SGX */
export function readQuote(bytes: Bytes): Quote {
  const reader = readerOf(bytes)
  demand(hexText(reader.take(HEAD.length / 2)) === HEAD, 'unsupported-algorithm')
  reader.take(HEADER_BYTES - HEAD.length / 2)
  const machine = partsOf(reader.take(TD_REPORT_BYTES), TD_REPORT)
  demand(littleEndian(reader.take(4)) === reader.left())
  const [signature, key] = [reader.take(64), reader.take(64)]
  openData(reader, QE_REPORT)
  const report = reader.take(QE_REPORT_BYTES)
  const quoter = { ...partsOf(report, QE), signed: report, signature: reader.take(64) }
  const data = reader.take(littleEndian(reader.take(2)))
  openData(reader, PEM_CHAIN)
  return {
    machine,
    quoter,
    signed: bytes.subarray(0, HEADER_BYTES + TD_REPORT_BYTES),
    signature,
    key: concat(Uint8Array.of(4), key),
    bound: concat(key, data),
    chain: certificatesIn(reader.take(reader.left())),
  }
}

/** @throws AttestationError `invalid-signature` unless the processor signed the quoting enclave's report, which names the key of the quote */
export async function verifyQuote(quote: Quote, processor: Certificate): Promise<void> {
  const { quoter, key, bound } = quote
  demand(await isSignedBy(processor.key, quoter, ES256), 'invalid-signature')
  const named = `${await sha256(bound)}${'0'.repeat(64)}`
  demand(hexText(quoter.reportData) === named, 'invalid-signature')
  demand(await isSignedBy(key, quote, ES256), 'invalid-signature')
}

export function littleEndian(bytes: Bytes): number {
  return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0)
}

/** Certification data of this type, which fills the rest. */
function openData(reader: Reader, type: number): void {
  demand(littleEndian(reader.take(2)) === type)
  demand(littleEndian(reader.take(4)) === reader.left())
}

function partsOf<Places extends Readonly<Record<string, readonly [number, number]>>>(
  report: Bytes,
  places: Places,
): Parts<Places>
function partsOf(report: Bytes, places: Readonly<Record<string, readonly [number, number]>>) {
  return Object.fromEntries(
    Object.entries(places).map(([name, [start, end]]) => [name, report.subarray(start, end)]),
  )
}

function certificatesIn(bytes: Bytes): Bytes[] {
  const text = bytes.reduce((sum, byte) => sum + String.fromCharCode(byte), '')
  const found = [...text.matchAll(PEM)]
  const length = found.reduce((sum, [whole]) => sum + whole.length, 0)
  // Intel's tools end the text with a zero.
  demand(found.length === CHAIN_LENGTH && length === text.replace(/\0$/, '').length)
  return found.map(([, base64 = '']) => bytesOf(base64.replaceAll('\n', ''))).reverse()
}

function bytesOf(base64: string): Bytes {
  demand(base64.length % 4 === 0)
  return latin1(atob(base64))
}
