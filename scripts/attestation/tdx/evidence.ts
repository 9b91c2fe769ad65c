// Evidence of dstack by a test root, each with a fault or without one.
import { createHash } from 'node:crypto'
import { concatBytes, hexToBytes } from '../../../src/protocol/hex.js'
import { cbor, type Item, Pairs } from '../../../src/simulator/device/encode.js'
import * as make from '../documents.js'
import type { Certified, KeyName } from './certificates.js'
import * as certified from './certificates.js'

export type Event = readonly [name: string, payload: Uint8Array, version?: number]
type Places = Readonly<Record<number, Uint8Array>>

const utf8 = (text: string) => new TextEncoder().encode(text)
export const bytes = (hex: string) => hexToBytes(`0x${hex}`)
const fill = (size: number, byte: number) => new Uint8Array(size).fill(byte)

export const COMPOSE_HASH = 'c0'.repeat(32)
export const KEY_PROVIDER = '{"name":"local-sgx","id":"a1"}'
/** Those of dstack, with one that the program added. */
export const EVENTS: readonly Event[] = [
  ['system-preparing', fill(0, 0)],
  ['app-id', fill(20, 0xaa)],
  ['compose-hash', bytes(COMPOSE_HASH)],
  ['instance-id', fill(20, 0xbb)],
  ['boot-mr-done', fill(0, 0)],
  ['key-provider', utf8(KEY_PROVIDER)],
  ['system-ready', fill(0, 0)],
  ['of-the-program', utf8('anything')],
]

const sha384 = (content: Uint8Array) => Uint8Array.from(createHash('sha384').update(content).digest())
function digestOf([name, payload, version = 1]: Event): Uint8Array {
  const hex = Buffer.from(payload).toString('hex')
  if (version === 2) return sha384(utf8(`{"name":"${name}","payload":"${hex}","type":134217729}`))
  return sha384(concatBytes(bytes('01000008'), utf8(`:${name}:`), payload))
}
export const rtmr3 = (events: readonly Event[]) =>
  events.reduce((value, event) => sha384(concatBytes(value, digestOf(event))), fill(48, 0))

export const REGISTERS = { mrtd: 'a0', rtmr0: 'a1', rtmr1: 'a2', rtmr2: 'a3' }
const MACHINE: Places = {
  0: bytes('060103'),
  120: bytes('0000001000000000'),
  128: bytes('e702060000000000'),
  ...{ 136: fill(48, 0xa0), 328: fill(48, 0xa1), 376: fill(48, 0xa2), 424: fill(48, 0xa3) },
}
export const MR_SIGNER = 'd1'.repeat(32)
const QUOTER: Places = { 48: bytes('11'), 128: bytes(MR_SIGNER), 256: bytes('0200'), 258: bytes('0400') }

function placed(size: number, ...all: Places[]): Uint8Array {
  const whole = new Uint8Array(size)
  for (const [at, content] of all.flatMap((places) => Object.entries(places))) whole.set(content, Number(at))
  return whole
}

const svn = (...svns: number[]) => Array.from({ length: 16 }, (_, index) => ({ svn: svns[index] ?? 0 }))
const period = {
  issueDate: new Date(make.NOW - 24 * make.HOUR).toISOString().replace('.000', ''),
  nextUpdate: new Date(make.NOW + 29 * 24 * make.HOUR).toISOString().replace('.000', ''),
}
const ZEROS = '00'.repeat(48)
const MODULE = { mrsigner: ZEROS, attributes: '0000000000000000', attributesMask: 'FFFFFFFFFFFFFFFF' }
const LEVEL = {
  tcb: { sgxtcbcomponents: svn(5, 5, 2, 2, 3, 1, 0, 5), pcesvn: 11, tdxtcbcomponents: svn(5, 0, 3) },
  tcbStatus: 'UpToDate',
}
const { tcb } = LEVEL
const OLDER = { tcb: { ...tcb, pcesvn: 5 }, tcbStatus: 'OutOfDate', advisoryIDs: ['INTEL-SA-00837'] }
export const moduleIdentity = (tcbStatus: string, isvsvn = 4) => ({
  ...{ id: 'TDX_01', ...MODULE },
  tcbLevels: [
    { tcb: { isvsvn }, tcbStatus },
    { tcb: { isvsvn: 2 }, tcbStatus: 'OutOfDate' },
  ],
})
export const levels = (tcbStatus: string, changes: Partial<typeof tcb> = {}) => [
  { tcb: { ...tcb, ...changes }, tcbStatus },
  OLDER,
]
export { svn }

const TCB_INFO = {
  ...{ id: 'TDX', version: 3, ...period, fmspc: 'A0B1C2D3E4F5', pceId: '0000', tdxModule: MODULE },
  ...{ tdxModuleIdentities: [moduleIdentity('UpToDate')], tcbLevels: [LEVEL, OLDER] },
}
const QE_IDENTITY = {
  ...{ id: 'TD_QE', version: 2, ...period, miscselect: '00000000', miscselectMask: 'FFFFFFFF' },
  ...{ attributes: `11${'00'.repeat(15)}`, attributesMask: `FB${'FF'.repeat(7)}${'00'.repeat(8)}` },
  ...{
    mrsigner: MR_SIGNER.toUpperCase(),
    isvprodid: 2,
    tcbLevels: [{ tcb: { isvsvn: 4 }, tcbStatus: 'UpToDate' }],
  },
}

export interface EvidenceParts {
  readonly userData: Uint8Array
  /** The second half of the report data. */
  readonly nonce: Uint8Array
  readonly head: string
  readonly machine: Places
  readonly quoter: Places
  readonly events: readonly Event[]
  /** The log that is shown, where it is another one than that of RTMR3. */
  readonly log: Item
  readonly tcbInfo: object
  readonly qeIdentity: object
  readonly certificates: { readonly [name in Certified]?: Partial<certified.CertificateParts> }
  readonly rootCrl: Partial<certified.ListParts>
  readonly pckCrl: Partial<certified.ListParts>
  /** Whose key signs in place of the right one: the quote, the quoting enclave's report, the texts. */
  readonly signers: { readonly quote?: KeyName; readonly report?: KeyName; readonly texts?: KeyName }
  /** Members of the collateral that replace those of the same name. */
  readonly members: Readonly<Record<string, Item>>
  readonly quote: (whole: Uint8Array) => Uint8Array
  readonly pem: (text: string) => string
}

export const pemOf = (der: Uint8Array) => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
const little = (value: number, size: number) =>
  Uint8Array.from({ length: size }, (_, index) => (value >> (8 * index)) & 0xff)
const sized = (type: number, content: Uint8Array) =>
  concatBytes(little(type, 2), little(content.length, 4), content)

export async function quoteOf(parts: Partial<EvidenceParts>, userData: Uint8Array): Promise<Uint8Array> {
  const { certificates = {}, signers = {}, pem = (text: string) => text } = parts
  const names = ['processor', 'authority', 'root'] as const
  const chain = await Promise.all(names.map((name) => certified.certificate(name, certificates[name])))
  const events = rtmr3(parts.events ?? EVENTS)
  const report = { 472: events, 520: userData, 552: parts.nonce ?? fill(32, 0) }
  const signed = concatBytes(
    placed(48, { 0: bytes(parts.head ?? '0400020081000000') }),
    placed(584, MACHINE, report, parts.machine ?? {}),
  )
  const [key, bound] = [certified.numbersOf('quoter'), fill(32, 0xee)]
  const named = createHash('sha256').update(concatBytes(key, bound)).digest()
  const quoter = placed(384, QUOTER, { 320: named }, parts.quoter ?? {})
  const data = concatBytes(
    ...[quoter, await certified.sign(signers.report ?? 'processor', quoter)],
    ...[little(bound.length, 2), bound, sized(5, utf8(`${pem(chain.map(pemOf).join(''))}`))],
  )
  const signature = await certified.sign(signers.quote ?? 'quoter', signed)
  const rest = concatBytes(signature, key, sized(6, data))
  return concatBytes(signed, little(rest.length, 4), rest)
}

export async function collateralOf(parts: Partial<EvidenceParts>) {
  const { certificates = {}, signers = {} } = parts
  const signedText = async (base: object, changes: object = {}) => {
    const text = JSON.stringify({ ...base, ...changes })
    return [text, await certified.sign(signers.texts ?? 'signer', utf8(text))] as const
  }
  const [tcbInfo, tcbSignature] = await signedText(TCB_INFO, parts.tcbInfo)
  const [identity, identitySignature] = await signedText(QE_IDENTITY, parts.qeIdentity)
  return {
    ...{ tcb_info: tcbInfo, tcb_info_signature: tcbSignature },
    ...{ qe_identity: identity, qe_identity_signature: identitySignature },
    signer: await certified.certificate('signer', certificates.signer),
    root_crl: await certified.revocations('root', parts.rootCrl),
    pck_crl: await certified.revocations('authority', parts.pckCrl),
  }
}

export async function members(userData: Uint8Array, parts: Partial<EvidenceParts> = {}) {
  const { quote = (whole: Uint8Array) => whole } = parts
  const collateral = { ...(await collateralOf(parts)), ...parts.members }
  const log: Item = (parts.events ?? EVENTS).map(([name, payload, version]) => [
    ...[name, payload],
    ...(version === undefined ? [] : [version]),
  ])
  return {
    quote: quote(await quoteOf(parts, parts.userData ?? userData)),
    events: parts.log ?? log,
    collateral: new Pairs(Object.entries(collateral)),
  }
}

export const encode = (item: Readonly<Record<string, Item>>) => cbor(new Pairs(Object.entries(item)))
