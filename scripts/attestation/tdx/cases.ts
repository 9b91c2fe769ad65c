// The vectors of test/vectors/attestationTdx.json: each has one fault, or none.
import { createHash } from 'node:crypto'
import type { AttestationErrorCode, DstackErrorCode } from '../../../src/attestation/errors.js'
import { bytesToHex, concatBytes } from '../../../src/protocol/hex.js'
import { cbor, encoded, type Item } from '../../../src/simulator/device/encode.js'
import { type Cases, type Change, digest, policy, STATEMENT, text } from '../base.js'
import * as make from '../documents.js'
import * as certified from './certificates.js'
import * as evidence from './evidence.js'

const { NOW, HOUR } = make
const { bytes, EVENTS, levels, moduleIdentity, svn } = evidence
const NONCE = new Uint8Array(32).fill(7)
const userData = await digest(text)
const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')
const base64 = (content: Uint8Array) => Buffer.from(content).toString('base64')

const REGISTERS = Object.entries(evidence.REGISTERS).map(([name, byte]) => [name, byte.repeat(48)])
const TDX = {
  ...Object.fromEntries(REGISTERS),
  ...{ composeHash: evidence.COMPOSE_HASH, keyProvider: sha256(evidence.KEY_PROVIDER) },
}
const PROGRAM = {
  ...{ label: '0.2.0', tdx: TDX },
  configuration: `0x${sha256(JSON.stringify(STATEMENT.configuration, Object.keys(STATEMENT.configuration).sort()))}`,
}
/** Canonical JSON has the members in this order. */
const MEASUREMENT = `0x${sha256(JSON.stringify({ tdx: TDX }, ['tdx', ...Object.keys(TDX).sort()]))}`
const pinning = (changes: object) => policy({ ...PROGRAM, tdx: { ...TDX, ...changes } })

const made = async (item: Readonly<Record<string, Item>>) => ({
  attestation: { evidence: base64(evidence.encode(item)) },
})
const withParts = async (parts: Partial<evidence.EvidenceParts>): Promise<Change> =>
  made(await evidence.members(userData, parts))
/** The base's members, changed; undefined leaves one out. */
async function changed(changes: Readonly<Record<string, Item | undefined>>): Promise<Change> {
  const members = Object.entries({ ...(await evidence.members(userData)), ...changes })
  return made(
    Object.fromEntries(members.flatMap(([name, item]) => (item === undefined ? [] : [[name, item]]))),
  )
}
const withMachine = (at: number, hex: string) => withParts({ machine: { [at]: bytes(hex) } })
const withQuoter = (at: number, hex: string) => withParts({ quoter: { [at]: bytes(hex) } })
const withTcb = (tcbInfo: object) => withParts({ tcbInfo })
const withIdentity = (qeIdentity: object) => withParts({ qeIdentity })
const withFirmware = (changes: Partial<certified.Firmware>) =>
  withExtensions(...certified.LEAF, certified.firmware({ ...certified.FIRMWARE, ...changes }))
const withExtensions = (...extensions: Uint8Array[]) =>
  withParts({ certificates: { processor: { extensions } } })
const logged = (events: readonly evidence.Event[]) => withParts({ events })
const event = (name: string) => EVENTS.findIndex(([each]) => each === name)
const without = (name: string) => EVENTS.toSpliced(event(name), 1)
const later = new Date(NOW + HOUR).toISOString()
const earlier = new Date(NOW - 1_000).toISOString()

export const BASE = {
  attestation: {
    ...{ format: 'dstack', ...((await withParts({})).attestation as object) },
    statement: text,
  },
  expected: {
    ...policy(PROGRAM).expected,
    ...{ chainId: STATEMENT.chainId, escrow: STATEMENT.escrow, signer: STATEMENT.signer, now: NOW },
  },
}
/** The digest that a verifier of the vectors trusts. */
export const ROOT = sha256(await certified.certificate('root'))

const accepted = async (): Promise<Cases> => ({
  'a machine of dstack': {},
  'events of version 2': await logged(EVENTS.map(([name, payload]) => [name, payload, 2])),
  'a level that the processor exceeds': await withTcb({ tcbLevels: levels('UpToDate', { pcesvn: 10 }) }),
  'firmware of the first version of the module': await withParts({
    machine: { 0: bytes('050003') },
    tcbInfo: { tdxModuleIdentities: [] },
  }),
  'the last second of the collateral': await withTcb({ nextUpdate: new Date(NOW).toISOString() }),
  'another certificate is revoked': await withParts({
    pckCrl: { revoked: [7, 8] },
    rootCrl: { revoked: [9] },
  }),
  'a quote for a nonce': { ...(await withParts({ nonce: NONCE })), expected: { nonce: bytesToHex(NONCE) } },
  'a text of certificates that ends with a zero': await withParts({ pem: (pem) => `${pem}\0` }),
})

const colon = async (): Promise<Change> => {
  const [hash, ...rest] = [bytes(`3a${'c1'.repeat(31)}`), ...EVENTS]
  const events: evidence.Event[] = [
    ...rest.slice(0, 2),
    ['compose-hash', hash],
    ...rest.slice(3, 6),
    ['compose-hash', bytes(evidence.COMPOSE_HASH)],
    ['system-ready', new Uint8Array()],
  ]
  const log = events.map(([name, payload], index) =>
    index === 2 ? ['compose-hash:', payload.slice(1)] : [name, payload],
  )
  return withParts({ events, log })
}

const malformed = async (): Promise<Cases> => ({
  'no quote': await changed({ quote: undefined }),
  'evidence that is a list': { attestation: { evidence: base64(cbor([])) } },
  'no events': await changed({ events: undefined }),
  'an event without a payload': await changed({ events: [['system-ready']] }),
  'an event of version 3': await changed({ events: [['system-ready', new Uint8Array(), 3]] }),
  'a colon that moves a payload into the name': await colon(),
  'collateral without a list of revoked processors': await withParts({ members: { pck_crl: 'none' } }),
  'collateral that is a list': await changed({ collateral: [] }),
  'a byte behind the quote': await withParts({ quote: (whole) => concatBytes(whole, Uint8Array.of(0)) }),
  'a signature of another length than it has': await withParts({
    quote: (whole) => whole.with(632, (whole[632] ?? 0) ^ 1),
  }),
  'a quote that is cut off': await withParts({ quote: (whole) => whole.slice(0, -1) }),
  'certificates of another length than four letters': await withParts({
    pem: (pem) => pem.replace(/\n[^-\n]+\n-----END/, '\nA\n-----END'),
  }),
  'text between certificates': await withParts({
    pem: (pem) => pem.replace('-----\n-----', '-----\n \n-----'),
  }),
  'two certificates of three': await withParts({
    pem: (pem) => pem.slice(pem.indexOf('-----BEGIN', 1)),
  }),
  'a processor without firmware': await withExtensions(...certified.LEAF),
  'a list of revoked certificates of version 1': await withParts({
    members: { pck_crl: encoded('4430023000') },
  }),
})

const differing = async (): Promise<Cases> => ({
  'another kind of processor': await withFirmware({ fmspc: 'a0b1c2d3e4f6' }),
  'another provisioning enclave': await withFirmware({ pceId: '0001' }),
  'levels of SGX': await withTcb({ id: 'SGX' }),
  'levels of a later version': await withTcb({ version: 4 }),
  'the quoting enclave of SGX': await withIdentity({ id: 'QE' }),
  'the list of another authority': await withParts({ pckCrl: { issuer: 'root', signer: 'root' } }),
})

const untrusted = async (): Promise<Cases> => ({
  'firmware below each level': await withFirmware({ pceSvn: 4 }),
  'microcode below its level': await withFirmware({ svns: [5, 4, 2, 2, 3, 1, 0, 5, ...Array(8).fill(0)] }),
  'a level that is OutOfDate': await withFirmware({ pceSvn: 10 }),
  ...Object.fromEntries(
    await Promise.all(
      ['SWHardeningNeeded', 'ConfigurationNeeded', 'Revoked'].map(
        async (status) =>
          [`a level that is ${status}`, await withTcb({ tcbLevels: levels(status) })] as const,
      ),
    ),
  ),
  'no levels': await withTcb({ tcbLevels: [] }),
  'a level without components': await withTcb({ tcbLevels: levels('UpToDate', { sgxtcbcomponents: [] }) }),
  'microcode of TDX below its level': await withTcb({
    tcbLevels: levels('UpToDate', { tdxtcbcomponents: svn(5, 0, 4) }),
  }),
  'a module that is OutOfDate': await withMachine(0, '020103'),
  'the first version of the module below its level': await withMachine(0, '040003'),
  'a module that Intel does not name': await withMachine(0, '060203'),
  'a module that is SWHardeningNeeded': await withTcb({
    tdxModuleIdentities: [moduleIdentity('SWHardeningNeeded')],
  }),
  'a module of another signer': await withMachine(64, '01'),
  'a module with other attributes': await withMachine(112, '01'),
  'a quoting enclave of another signer': await withQuoter(128, 'd2'),
  'a quoting enclave in debug mode': await withQuoter(48, '13'),
  'a quoting enclave with other bits': await withQuoter(16, '01'),
  'another product of Intel': await withQuoter(256, '0100'),
  'a quoting enclave below its level': await withQuoter(258, '0300'),
  'a quoting enclave that is OutOfDate': await withIdentity({
    tcbLevels: [{ tcb: { isvsvn: 4 }, tcbStatus: 'OutOfDate' }],
  }),
  'a machine with other attributes': await withMachine(123, '50'),
  'a machine without SEPT_VE_DISABLE': await withMachine(123, '00'),
})

const diverted = async (): Promise<Cases> => ({
  'one event less': await withParts({ log: EVENTS.slice(0, -1).map(([name, payload]) => [name, payload]) }),
  'one event more': await withParts({
    log: [...EVENTS, ['more', new Uint8Array()] as const].map(([name, payload]) => [name, payload]),
  }),
  'another hash than that of RTMR3': await withParts({
    events: EVENTS.with(event('compose-hash'), ['compose-hash', new Uint8Array(32)]),
    log: EVENTS.map(([name, payload]) => [name, payload]),
  }),
  'events in another order': await withParts({
    log: [...EVENTS.slice(0, -2), ...EVENTS.slice(-2).reverse()].map(([name, payload]) => [name, payload]),
  }),
  'a version of events that is not theirs': await withParts({
    log: EVENTS.map(([name, payload]) => [name, payload, 2]),
  }),
  'no events': await withParts({ events: [], log: [] }),
  'no hash of the program': await logged(without('compose-hash')),
  'a hash that the program added': await logged([
    ...without('compose-hash'),
    ['compose-hash', bytes(evidence.COMPOSE_HASH)],
  ]),
  'a second hash of the program': await logged([...EVENTS, ['compose-hash', new Uint8Array(32)]]),
  'a start that is not over': await logged(without('system-ready')),
  'a hash of 31 bytes': await logged(
    EVENTS.with(event('compose-hash'), ['compose-hash', new Uint8Array(31)]),
  ),
  'no key provider': await logged(without('key-provider')),
})

/** Vectors by the code of the first check that fails, in the order of the checks. */
const refused = async (): Promise<
  Readonly<Partial<Record<AttestationErrorCode, Cases>>> & Readonly<Record<DstackErrorCode, Cases>>
> => ({
  'malformed-policy': {
    'no RTMR2': pinning({ rtmr2: undefined }),
    'no hash of the program': pinning({ composeHash: undefined }),
    'no key provider': pinning({ keyProvider: undefined }),
    'a hash of 20 bytes': pinning({ composeHash: 'c0'.repeat(20) }),
    'a hash of 48 bytes': pinning({ composeHash: 'c0'.repeat(48) }),
    'firmware of 32 bytes': pinning({ mrtd: 'a0'.repeat(32) }),
    'a root file system of zeros': pinning({ rtmr2: '00'.repeat(48) }),
  },
  'malformed-evidence': await malformed(),
  'unsupported-algorithm': {
    'a quote of SGX': await withParts({ head: '0400020000000000' }),
    'a quote of version 5': await withParts({ head: '0500020081000000' }),
    'a quote by a key on P-384': await withParts({ head: '0400030081000000' }),
  },
  'unknown-root': {
    'a root of the same name': await withParts({ certificates: { root: { serial: 9 } } }),
  },
  'broken-chain': {
    'a stranger certified the processor': await withParts({
      certificates: { processor: { signer: 'stranger' } },
    }),
    'a stranger certified the signer of the collateral': await withParts({
      certificates: { signer: { signer: 'stranger' } },
    }),
  },
  'certificate-expired': {
    'the processor’s': await withParts({ certificates: { processor: { notAfter: NOW - 1_000 } } }),
    'that of the signer of the collateral': await withParts({
      certificates: { signer: { notAfter: NOW - 1_000 } },
    }),
  },
  'certificate-misused': {
    'an authority signed the collateral': await withParts({
      certificates: { signer: { extensions: [make.authority(0), make.CERT_SIGN] } },
    }),
    'an authority that may not list what is revoked': await withParts({
      certificates: {
        authority: { extensions: [make.authority(0), make.extension('keyUsage', '03020204')] },
      },
    }),
  },
  'invalid-signature': {
    'a stranger signed the quote': await withParts({ signers: { quote: 'stranger' } }),
    'a stranger signed for the quoting enclave': await withParts({ signers: { report: 'stranger' } }),
    'another key than the quoting enclave names': await withParts({ quoter: { 320: new Uint8Array(32) } }),
    'the quote was changed': await withParts({ quote: (whole) => whole.with(600, 1) }),
    'a stranger signed the levels': await withParts({ signers: { texts: 'stranger' } }),
    'a stranger signed a list of revoked certificates': await withParts({ pckCrl: { signer: 'stranger' } }),
    'a stranger signed the list of the root': await withParts({ rootCrl: { signer: 'stranger' } }),
  },
  'debug-mode': { 'a machine that its host may debug': await withMachine(120, '01') },
  'collateral-missing': { 'no collateral': await changed({ collateral: undefined }) },
  'collateral-expired': {
    'levels until a second ago': await withTcb({ nextUpdate: earlier }),
    'levels of tomorrow': await withTcb({ issueDate: later }),
    'levels without an end': await withTcb({ nextUpdate: undefined }),
    'the quoting enclave until a second ago': await withIdentity({ nextUpdate: earlier }),
    'revoked processors until a second ago': await withParts({ pckCrl: { until: NOW - 1_000 } }),
    'revoked processors of tomorrow': await withParts({ pckCrl: { from: NOW + HOUR } }),
    'revoked authorities until a second ago': await withParts({ rootCrl: { until: NOW - 1_000 } }),
  },
  'collateral-differs': await differing(),
  'certificate-revoked': {
    'the processor': await withParts({ pckCrl: { revoked: [7, 3] } }),
    'its authority': await withParts({ rootCrl: { revoked: [2] } }),
    'the signer of the collateral': await withParts({ rootCrl: { revoked: [4] } }),
  },
  'untrusted-platform': await untrusted(),
  'log-differs': await diverted(),
  'wrong-nonce': {
    'a quote for no nonce': { expected: { nonce: bytesToHex(NONCE) } },
    'a quote for another nonce': {
      ...(await withParts({ nonce: new Uint8Array(32).fill(8) })),
      expected: { nonce: bytesToHex(NONCE) },
    },
  },
  'unknown-program': {
    'another program': pinning({ composeHash: 'c1'.repeat(32) }),
    'another key provider': pinning({ keyProvider: 'c1'.repeat(32) }),
    'other firmware': pinning({ mrtd: 'c1'.repeat(48) }),
    'a machine of another size': pinning({ rtmr0: 'c1'.repeat(48) }),
    'a register that no evidence has': pinning({ rtmr3: 'a0'.repeat(48) }),
    'a Nitro Enclave': policy({ ...PROGRAM, tdx: undefined, pcrs: { 0: 'a0'.repeat(48) } }),
  },
  'statement-differs': {
    'a quote about another statement': await withParts({ userData: new Uint8Array(32) }),
  },
})

const outcomeOf = (code: string) => /^(?:malformed|unsupported)/.exec(code)?.[0] ?? 'refused'
const OUTCOMES: Readonly<Record<string, string>> = { malformed: 'unreadable' }
const listed = (cases: Cases, code: string | null, outcome: string) =>
  Object.entries(cases).map(([name, change]) => ({ name, outcome, code, ...change }))

export const CASES = [
  ...listed(await accepted(), null, 'accepted').map((vector) => ({ ...vector, measurement: MEASUREMENT })),
  ...Object.entries(await refused()).flatMap(([code, cases]) =>
    listed(cases, code, OUTCOMES[outcomeOf(code)] ?? outcomeOf(code)),
  ),
]
