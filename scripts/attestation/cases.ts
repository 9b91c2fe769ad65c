// The vectors of test/vectors/attestation.json: each has one fault, or none, or two that show the order.
import type { AttestationErrorCode, DstackErrorCode } from '../../src/attestation/errors.js'
import { bytesToHex, concatBytes } from '../../src/protocol/hex.js'
import { cbor, Encoded, encoded, Pairs } from '../../src/simulator/device/encode.js'
import * as base from './base.js'
import {
  type Cases,
  policy,
  program,
  registers,
  STATEMENT,
  stating,
  text,
  withChain,
  withLeaf,
  withMembers,
} from './base.js'
import * as make from './documents.js'
import * as faults from './faults.js'

const { HOUR, NOW, register } = make
const ZEROS = '0'.repeat(96)
const FOREIGN = 'ff'.repeat(48)
const NO_CONFIGURATION = `0x${'00'.repeat(32)}`
const tpm = (...changed: Parameters<typeof base.replaced>[0]) =>
  withMembers({ pcrs: undefined, nitrotpm_pcrs: base.replaced(changed) })

const MACHINE = base.machine(registers(2, 4, 12, 13))
const PLAIN_MACHINE = base.machine({ ...registers(2, 4, 13), 12: ZEROS })
const DEBUG = { pcrs: base.replaced([0, 1, 2].map((index) => [index, register(0)])) }
const NONCE = new Uint8Array(32).fill(0xab)
const asking = (nonce: string) => ({ expected: { nonce } })
const startingWith = async (changes: object = {}) => ({
  origin: 'starting' as const,
  ...(await stating(base.starting(changes))),
})

const accepted = async (): Promise<Cases> => ({
  'the document is an indefinite map': {},
  'the document is a definite map': await base.attested({ length: 'definite' }),
  'lists and maps of indefinite length inside': await withMembers({
    pcrs: new Pairs(make.REGISTERS, 'indefinite'),
    cabundle: new Encoded(
      concatBytes(
        Uint8Array.of(0x9f),
        ...base.chain.slice(0, -1).map((each) => cbor(each)),
        Uint8Array.of(0xff),
      ),
    ),
  }),
  'COSE_Sign1 is tagged': await base.sign1(
    (parts) => new Encoded(concatBytes(Uint8Array.of(0xd2), cbor(parts))),
  ),
  'a machine with NitroTPM': {
    ...(await tpm()),
    ...policy(MACHINE),
    measurement: base.MEASUREMENTS.machine,
  },
  'a machine with NitroTPM whose command line is that of its image': {
    ...(await tpm([12, register(0)])),
    ...policy(PLAIN_MACHINE),
    measurement: base.MEASUREMENTS.plainMachine,
  },
  'the second program of the policy, whose time is not over': policy(
    program({ pcrs: registers(0, 1, 3), label: 'next', configuration: NO_CONFIGURATION }),
    program({ until: NOW + 1 }),
  ),
  'addresses in other case': { expected: { signer: `0x${'CC'.repeat(20)}` } },
  'the twin of the signature, which says the same': await base.sign1(
    ([header = '', open = '', content = '', signature]) => [
      ...[header, open, content, base.twin(base.bytesIn(signature))],
    ],
  ),
  'the last second of the leaf': await withChain({ leaf: { notAfter: NOW } }),
  'a clock that is five minutes behind': await withMembers({ timestamp: NOW + 300_000 }),
  'a document of two hours ago': await withMembers({ timestamp: NOW - 2 * HOUR }),
  'a certificate that writes years in four digits': await withChain({ leaf: { isLongTime: true } }),
  'an unknown extension that is not critical': await withLeaf(
    ...[make.NO_AUTHORITY, make.DIGITAL_SIGNATURE, make.extension('nameConstraints', '3000', false)],
  ),
  'a member that this version does not know': await withMembers({ later: encoded('a0') }),
  'the nonce that was sent': { ...(await withMembers({ nonce: NONCE })), ...asking(bytesToHex(NONCE)) },
  'a nonce that nobody here sent, and nobody asks for': await withMembers({ nonce: NONCE }),
  'an enclave that is starting': await startingWith(),
  'an enclave that is starting, and shows shares': await startingWith({ shares: `0x${'5a'.repeat(32)}` }),
})

const POLICIES: Cases = {
  'no policy': { expected: { programs: null } },
  'no program': policy(),
  'a program without registers': policy(program({ pcrs: undefined })),
  'an empty map of registers': policy(program({ pcrs: {} })),
  'PCR 1 and 2 alone of an enclave': policy(program({ pcrs: registers(1, 2) })),
  'PCR 4 alone of a machine with NitroTPM': policy(base.machine(registers(4))),
  'PCR 12 alone of a machine with NitroTPM': policy(base.machine(registers(12))),
  'a machine with NitroTPM without PCR 2': policy(base.machine(registers(4, 12, 13))),
  'a machine with NitroTPM without PCR 13': policy(base.machine(registers(2, 4, 12))),
  'registers of both kinds of machines': policy({ ...program(), ...MACHINE }),
  'PCR 0 of zeros, as in debug mode': policy(program({ pcrs: { 0: ZEROS } })),
  'a register of 32 bytes': policy(program({ pcrs: { 0: '01'.repeat(32) } })),
  'a misspelled end': policy(program({ untill: NOW + 1 })),
  'an end that is no number': policy(program({ until: '2026-11-28' })),
  'a program without a configuration': policy(program({ configuration: undefined })),
  'a second program that is not pinned': policy(program(), program({ pcrs: registers(8) })),
}

const ATTESTATIONS: Cases = {
  'a text': { attestation: 'evidence' },
  'no attestation': { attestation: null },
  'no format': { attestation: { format: null } },
  'no statement': { attestation: { statement: null } },
  'evidence in the alphabet of URLs': { attestation: { evidence: '_-AA' } },
  'evidence of a broken length': { attestation: { evidence: 'AAAAA' } },
  'evidence beyond 24 kB': { attestation: { evidence: 'A'.repeat(32_772) } },
}

const programs = async (): Promise<Cases> => ({
  'PCR 0 differs': policy(program({ pcrs: { ...registers(8), 0: FOREIGN } })),
  'the last of two registers differs': policy(program({ pcrs: { ...registers(0), 8: FOREIGN } })),
  'the document lacks a register': policy(program({ pcrs: { ...registers(0), 5: ZEROS } })),
  'the document has no register': await withMembers({ pcrs: new Pairs([]) }),
  'the registers are of the other kind of machine': policy(MACHINE),
  'a machine with NitroTPM loaded a driver before its image': {
    ...(await tpm([2, register(9)])),
    ...policy(MACHINE),
  },
  'the command line of a machine with NitroTPM was changed': {
    ...(await tpm()),
    ...policy(PLAIN_MACHINE),
  },
})

const other = (changes: object) => JSON.stringify({ ...JSON.parse(text), ...changes })

const statements = async (): Promise<Cases> => ({
  'no JSON': await stating('a statement'),
  'members in another order': await stating(text.replace(/^{("authority":"\w+"),("boot":7)/, '{$2,$1')),
  'white space': await stating(text.replace(',', ', ')),
  'a member twice': await stating(text.replace('"boot":7', '"boot":7,"boot":8')),
  'one member more': await stating(text.replace('"v":1}', '"v":1,"w":1}')),
  'one member less': await stating(text.replace('"boot":7,', '')),
  'a number as a text': await stating(other({ chainId: '31337' })),
  'an address of 19 bytes': await stating(other({ signer: `0x${'cc'.repeat(19)}` })),
  'keys that were not born in the program': await stating(other({ origin: 'given' })),
  'a control character': await stating(other({ scheme: '\u001b[2J' })),
  'a letter that looks like another': await stating(text.replace('broker.example', 'br\u043eker.example')),
  'an empty configuration': await stating(other({ configuration: {} })),
  'no comma between two settings': await stating(text.replace('"MIN_ORDER"', '"A":"1""MIN_ORDER"')),
  'a comma after the last setting': await stating(text.replace('},"escrow"', ',},"escrow"')),
  'an enclave that is starting, to a client': { attestation: (await startingWith()).attestation },
  'an enclave that has its keys, to a holder': { origin: 'starting' },
  'a signer of an enclave that is starting': await startingWith({ signer: STATEMENT.signer }),
  'shares beside keys that were born': await stating(other({ shares: NO_CONFIGURATION })),
  'a digest of shares of 31 bytes': await startingWith({ shares: `0x${'5a'.repeat(31)}` }),
  'more than 4,096 characters': await stating(other({ scheme: 'a'.repeat(4_096) })),
})

const configuredWith = (changes: object) =>
  stating(other({ configuration: { ...STATEMENT.configuration, ...changes } }))

const configurations = async (): Promise<Cases> => ({
  'another broker': await configuredWith({ ALPACA_TRADING_URL: 'broker.example.com' }),
  'another broker, to a holder': await startingWith({
    configuration: { ...STATEMENT.configuration, ALPACA_TRADING_URL: 'broker.example.com' },
  }),
  'one setting more': await configuredWith({ Z: '' }),
  'a setting twice': await stating(text.replace('"MIN_ORDER"', '"MIN_ORDER":"1","MIN_ORDER"')),
  'the configuration of another program': policy(
    program({ configuration: NO_CONFIGURATION }),
    program({ pcrs: { 0: FOREIGN } }),
  ),
})

/** By the code of the first check that fails, in the order of the checks. */
const refused = async (): Promise<Record<Exclude<AttestationErrorCode, DstackErrorCode>, Cases>> => ({
  'malformed-policy': POLICIES,
  'malformed-attestation': ATTESTATIONS,
  'unsupported-format': {
    'a platform of a later version': { attestation: { format: 'intel-tdx' } },
    'the format of tests': { attestation: { format: 'test' } },
  },
  'malformed-evidence': {
    ...(await faults.cborFaults()),
    ...(await faults.documentFaults()),
    ...(await faults.certificateFaults()),
  },
  'unsupported-algorithm': await faults.algorithms(),
  'unknown-root': await faults.roots(),
  'broken-chain': await faults.brokenChains(),
  'certificate-expired': await faults.expired(),
  'certificate-misused': await faults.misused(),
  'invalid-signature': await faults.signatures(),
  'debug-mode': {
    'PCR 0, 1 and 2 are zero, 3 and 4 are not': await withMembers(DEBUG),
  },
  outdated: {
    'a document of more than two hours ago': await withMembers({ timestamp: NOW - 2 * HOUR - 1 }),
    'a clock that is more than five minutes behind': await withMembers({ timestamp: NOW + 300_001 }),
    'a document from after its certificate': await withChain(
      { leaf: { notAfter: NOW } },
      { timestamp: NOW + 1_000 },
    ),
    'a document from before its certificate': await withChain({ leaf: { notBefore: NOW } }),
  },
  'wrong-nonce': {
    'a nonce of somebody else': {
      ...(await withMembers({ nonce: NONCE })),
      ...asking(`0x${'ac'.repeat(32)}`),
    },
    'the first bytes of a nonce': { ...(await withMembers({ nonce: NONCE })), ...asking('0xabab') },
    'a document without a nonce': asking(bytesToHex(NONCE)),
    'an empty nonce, which a document without one has': asking('0x'),
  },
  'unknown-program': await programs(),
  'retired-program': { 'the time of the program is over': policy(program({ until: NOW })) },
  'statement-differs': {
    'another boot': { attestation: { statement: text.replace('"boot":7', '"boot":8') } },
    'no user data': await withMembers({ user_data: null }),
    'user data with zeros behind it': await withMembers({
      user_data: concatBytes(await base.digest(text), new Uint8Array(32)),
    }),
  },
  'unsupported-version': { 'a later statement': await stating(text.replace('"v":1}', '"v":2}')) },
  'malformed-statement': await statements(),
  'wrong-chain': {
    'another chain': { expected: { chainId: 1 } },
    'another chain, to a holder': { ...(await startingWith()), expected: { chainId: 1 } },
  },
  'wrong-escrow': {
    'another escrow': { expected: { escrow: STATEMENT.authority } },
    'another escrow, to a holder': { ...(await startingWith()), expected: { escrow: STATEMENT.authority } },
  },
  'wrong-signer': { 'another signer': { expected: { signer: STATEMENT.authority } } },
  'wrong-configuration': await configurations(),
})

/** Two faults: the check that comes first gives the code. */
const ordered = async (): Promise<Readonly<Record<string, Cases>>> => {
  const old = { timestamp: NOW - 3 * HOUR }
  const elsewhere = { escrow: STATEMENT.authority }
  return {
    'malformed-policy': { 'no program, before no attestation': { attestation: null, ...policy() } },
    'unsupported-format': {
      'the format, before the evidence': { attestation: { format: 'test', evidence: 'AAAA' } },
    },
    'invalid-signature': {
      'the signature, before debug mode': await base.attested({ signer: 'stranger', members: DEBUG }),
    },
    'debug-mode': { 'debug mode, before the age': await withMembers({ ...DEBUG, ...old }) },
    outdated: { 'the age, before the nonce': { ...(await withMembers(old)), ...asking(bytesToHex(NONCE)) } },
    'wrong-nonce': {
      'the nonce, before the program': {
        expected: {
          ...asking(bytesToHex(NONCE)).expected,
          ...policy(program({ pcrs: { 0: FOREIGN } })).expected,
        },
      },
    },
    'unknown-program': {
      'the program, before the statement': {
        attestation: { statement: '' },
        ...policy(program({ pcrs: { 0: FOREIGN } })),
      },
    },
    'statement-differs': { 'the digest, before the form': { attestation: { statement: 'a statement' } } },
    'wrong-chain': { 'the chain, before the escrow': { expected: { chainId: 1, ...elsewhere } } },
    'wrong-escrow': {
      'the escrow, before the signer': { expected: { ...elsewhere, signer: STATEMENT.authority } },
    },
    'wrong-signer': {
      'the signer, before the configuration': {
        expected: {
          signer: STATEMENT.authority,
          ...policy(program({ configuration: NO_CONFIGURATION })).expected,
        },
      },
    },
  }
}

const outcomeOf = (code: string) => /^(?:malformed|unsupported)/.exec(code)?.[0] ?? 'refused'
const OUTCOMES: Readonly<Record<string, string>> = { malformed: 'unreadable' }

const listed = (cases: Cases, code: string | null, outcome: string) =>
  Object.entries(cases).map(([name, change]) => ({ name, outcome, code, ...change }))

const twofold = await ordered()
export const CASES = [
  ...listed(await accepted(), null, 'accepted').map((each) => ({
    measurement: base.MEASUREMENTS.enclave,
    ...each,
  })),
  ...Object.entries(await refused()).flatMap(([code, cases]) =>
    listed({ ...cases, ...twofold[code] }, code, OUTCOMES[outcomeOf(code)] ?? outcomeOf(code)),
  ),
]
