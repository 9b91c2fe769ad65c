// The vectors whose evidence is at fault.
import { concatBytes } from '../../src/protocol/hex.js'
import { cbor, der, Encoded, encoded, integer, Pairs, sequence } from '../../src/simulator/device/encode.js'
import * as base from './base.js'
import { type Cases, chain, withChain, withLeaf, withMembers } from './base.js'
import * as make from './documents.js'

const { NOW, register } = make
const [root = new Uint8Array(), intermediate = new Uint8Array(), leaf = new Uint8Array()] = chain
const byte = (value: number) => Uint8Array.of(value)

export const cborFaults = async (): Promise<Cases> => ({
  'a byte behind COSE_Sign1': await base.sign1((parts) => new Encoded(concatBytes(cbor(parts), byte(0)))),
  'a byte behind the document': await base.signed((content) => concatBytes(content, byte(0xf6))),
  'COSE_Sign1 that is cut off': await base.sign1((parts) => new Encoded(cbor(parts).slice(0, -1))),
  'three parts of four': await base.sign1((parts) => parts.slice(0, 3)),
  'an unprotected header': await base.sign1(([header = '', , ...rest]) => [
    header,
    new Pairs([[1, -35]]),
    ...rest,
  ]),
  'a document that is a list': await base.signed((content) => cbor([content])),
  'an announced list of 2^53 - 1 items': await withMembers({ cabundle: encoded('9b001fffffffffffff') }),
  'an announced string of 2^64 - 1 bytes': await withMembers({ nonce: encoded('5bffffffffffffffff') }),
  'a length in a longer form than it needs': await withMembers({ nonce: encoded('580100') }),
  'a string of indefinite length': await withMembers({ nonce: encoded('5f4100ff') }),
  'a timestamp in floating point': await withMembers({ timestamp: encoded('fb4274000000000000') }),
  'a boolean': await withMembers({ nonce: encoded('f5') }),
  'a key that is a list': await withMembers({ nonce: new Pairs([[[1], 1]]) }),
  'a text that is not UTF-8': await withMembers({ module_id: encoded('61ff') }),
  'lists in lists, deeper than any document': await withMembers({ nonce: encoded('8181818100') }),
  'a member twice': await base.signed((content) =>
    concatBytes(content.slice(0, -1), cbor('digest'), cbor('SHA384'), byte(0xff)),
  ),
  'a register twice': await withMembers({ pcrs: new Pairs([...make.REGISTERS, [0, register(9)]]) }),
})

export const documentFaults = async (): Promise<Cases> => ({
  'a register whose number is a text': await withMembers({ pcrs: base.replaced([['0', register(1)]]) }),
  'a register of 32 bytes': await withMembers({ pcrs: base.replaced([[2, new Uint8Array(32)]]) }),
  'a register below zero': await withMembers({ pcrs: base.replaced([[-1, register(1)]]) }),
  'a register beyond 31': await withMembers({ pcrs: base.replaced([[32, register(1)]]) }),
  'no map of registers': await withMembers({ pcrs: undefined }),
  'maps of both kinds of machines': await withMembers({ nitrotpm_pcrs: new Pairs(make.REGISTERS) }),
  'a timestamp of zero': await withMembers({ timestamp: 0 }),
  'no timestamp': await withMembers({ timestamp: undefined }),
  'a nonce that is a text': await withMembers({ nonce: 'text' }),
  'user data that is a text': await withMembers({ user_data: 'text' }),
  'no certificate above the leaf': await withMembers({ cabundle: [] }),
  'more certificates than a chain has': await withMembers({ cabundle: Array(8).fill(root) }),
  'a certificate that is a text': await withMembers({ certificate: 'leaf' }),
  'a NULL behind a certificate': await withMembers({ certificate: concatBytes(leaf, Uint8Array.of(5, 0)) }),
  'a certificate that is cut off': await withMembers({ certificate: leaf.slice(0, -1) }),
  'an extension twice': await withLeaf(make.NO_AUTHORITY, make.DIGITAL_SIGNATURE, make.DIGITAL_SIGNATURE),
  'a boolean in a form that DER does not have': await withLeaf(
    make.extension('basicConstraints', '3003010100'),
    make.DIGITAL_SIGNATURE,
  ),
})

/** The leaf with other bytes in place of some, as many. */
function edited(from: string, to: string) {
  const text = Buffer.from(leaf).toString('latin1')
  if (text.split(from).length !== 2) throw new Error(`${from} is not once in the leaf`)
  return withMembers({ certificate: Uint8Array.from(Buffer.from(text.replace(from, to), 'latin1')) })
}
const withSignature = (sealed: make.CertificateParts['sealed']) => withChain({ leaf: { sealed } })
const ZERO = integer(byte(0))

export const certificateFaults = async (): Promise<Cases> => ({
  'a certificate of version 2': await edited('\xa0\x03\x02\x01\x02', '\xa0\x03\x02\x01\x01'),
  'a thirteenth month': await edited('\x17\x0d261128093000Z', '\x17\x0d261328093000Z'),
  'a time without seconds': await edited('\x17\x0d261128093000Z', '\x17\x0d2611280930+00'),
  'a time that is a text': await edited('\x17\x0d261128093000Z', '\x13\x0d261128093000Z'),
  'a signature whose bits do not fill the bytes': await withSignature((r, s) =>
    der(0x03, '01', sequence(integer(r), integer(s))),
  ),
  'a signature of three numbers': await withSignature((r, s) => make.sealedBy(integer(r), integer(s), ZERO)),
  'a negative number in a signature': await withSignature((r) => make.sealedBy(integer(r), der(0x02, '80'))),
  'a number in a longer form than it needs': await withSignature((r) =>
    make.sealedBy(integer(r), der(0x02, '0001')),
  ),
  'a number wider than the curve': await withSignature((r) =>
    make.sealedBy(integer(r), der(0x02, '01'.repeat(49))),
  ),
  'a length of the reserved form': await withMembers({ nonce: encoded('5c') }),
  'a length in more bytes than a certificate has': await withMembers({
    certificate: encoded('4630830000010000'),
  }),
  'a certificate that is no sequence': await withMembers({ certificate: encoded('433101ff') }),
  'four parts that are no list': await base.sign1(
    ([first = 0, second = 0, third = 0, fourth = 0]) =>
      new Pairs([
        [first, second],
        [third, fourth],
      ]),
  ),
  'a header that is a text': await base.sign1(([, ...rest]) => ['header', ...rest]),
  'a document too short for a chain': await base.sign1(([first = 0, second = 0, , fourth = 0]) => [
    ...[first, second, new Uint8Array(255), fourth],
  ]),
  'registers that are a list': await withMembers({ pcrs: [register(1)] }),
})

const P256_KEY = sequence(
  '301306072a8648ce3d020106082a8648ce3d030107',
  der(0x03, '00', make.point('leaf').slice(0, 65)),
)

export const algorithms = async (): Promise<Cases> => ({
  'COSE_Sign1 of ES256': await base.sign1(([, ...rest]) => [cbor(new Pairs([[1, -7]])), ...rest]),
  'a signature of 64 bytes': await base.sign1((parts) => [...parts.slice(0, 3), new Uint8Array(64)]),
  'registers of SHA-256': await withMembers({ digest: 'SHA256' }),
  'a certificate signed with SHA-256': await withChain({ leaf: { algorithm: '300a06082a8648ce3d040302' } }),
  'a key on P-256': await withChain({ leaf: { key: P256_KEY } }),
})

export const roots = async (): Promise<Cases> => ({
  'a root of the same name': await withChain({ root: { key: make.publicKey(make.point('stranger')) } }),
  'the root is left out': await withMembers({ cabundle: [intermediate] }),
  'the same root, signed anew': await base.attested({ chain: await make.chain() }),
})

export const brokenChains = async (): Promise<Cases> => ({
  'the leaf is signed by a stranger': await withChain({ leaf: { signer: 'stranger' } }),
  'the leaf names another issuer': await withChain({ leaf: { issuer: 'test root' } }),
  'the leaf was changed': await withMembers({
    certificate: base.flipped(leaf, Buffer.from(leaf).indexOf('i-0-enc0')),
  }),
  'the intermediate one is missing': await withMembers({ cabundle: [root] }),
  'the order is reversed below the root': await withMembers({
    cabundle: [root, leaf],
    certificate: intermediate,
  }),
})

export const expired = async (): Promise<Cases> => ({
  'the leaf was in force until a second ago': await withChain({ leaf: { notAfter: NOW - 1_000 } }),
  'the leaf is in force from the next second on': await withChain({ leaf: { notBefore: NOW + 1_000 } }),
  'the intermediate one was in force until a second ago': await withChain({
    intermediate: { notAfter: NOW - 1_000 },
  }),
  'the root was in force until a second ago': await base.withRoot({ notAfter: NOW - 1_000 }),
})

const { CERT_SIGN, DIGITAL_SIGNATURE, NO_AUTHORITY, authority } = make
const withIntermediate = (...extensions: Uint8Array[]) => withChain({ intermediate: { extensions } })

export const misused = async (): Promise<Cases> => ({
  'the intermediate one is no authority': await withIntermediate(NO_AUTHORITY, CERT_SIGN),
  'the intermediate one has no constraints': await withIntermediate(CERT_SIGN),
  'the intermediate one may not sign certificates': await withIntermediate(authority(0), DIGITAL_SIGNATURE),
  'the intermediate one has no key usage': await withIntermediate(authority(0)),
  'the root allows no intermediate one': await base.withRoot({ extensions: [authority(0), CERT_SIGN] }),
  'the leaf is an authority': await withLeaf(authority(0), DIGITAL_SIGNATURE),
  'the leaf may not sign': await withLeaf(NO_AUTHORITY, make.extension('keyUsage', '03020106')),
  'the leaf has no key usage': await withLeaf(NO_AUTHORITY),
  'a critical extension is unknown': await withLeaf(
    ...[NO_AUTHORITY, DIGITAL_SIGNATURE, make.extension('nameConstraints', '3000')],
  ),
})

export const signatures = async (): Promise<Cases> => ({
  'a stranger signed the document': await base.attested({ signer: 'stranger' }),
  'the document was changed': await base.sign1(([header = '', open = '', content, ...rest]) => [
    ...[header, open, base.flipped(base.bytesIn(content), 15)],
    ...rest,
  ]),
  'the signature is of zeros': await base.sign1((parts) => [...parts.slice(0, 3), new Uint8Array(96)]),
  'a key beside the curve': await withChain({
    leaf: { key: make.publicKey(base.flipped(make.point('leaf'), 96)) },
  }),
})
