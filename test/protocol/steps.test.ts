// The values on the way to the other vectors, from OpenSSL's and ethers' primitives alone: none of our own code.
import { createECDH, hkdfSync } from 'node:crypto'
import canonicalize from 'canonicalize'
import {
  concat,
  getBytes,
  hashMessage,
  hexlify,
  Interface,
  id,
  keccak256,
  TypedDataEncoder,
  toUtf8Bytes,
} from 'ethers'
import { expect, it } from 'vitest'
import cancel from '../vectors/cancel.json' with { type: 'json' }
import envelopes from '../vectors/envelopes.json' with { type: 'json' }
import intents from '../vectors/intents.json' with { type: 'json' }
import keys from '../vectors/keys.json' with { type: 'json' }
import steps from '../vectors/steps.json' with { type: 'json' }

const [sealedOrder, sealedRulebook] = envelopes.cases
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function hkdf(ikm: string, info: string, length: number): string {
  return hexlify(new Uint8Array(hkdfSync('sha256', getBytes(ikm), new Uint8Array(), getBytes(info), length)))
}

const envelopeHash = ({ epk, iv, tag, ct }: typeof cancel.envelope) => keccak256(concat([epk, iv, tag, ct]))

it('the steps to the portfolio key', () => {
  expect(hashMessage(steps.personalSign.message)).toBe(steps.personalSign.digest)
  const { ikm, okm, privateKey } = steps.portfolioKey
  expect(ikm).toBe(keys.signature.slice(0, 130))
  expect(hkdf(ikm, hexlify(toUtf8Bytes(steps.personalSign.message)), 48)).toBe(okm)
  expect(`0x${((BigInt(okm) % (N - 1n)) + 1n).toString(16).padStart(64, '0')}`).toBe(privateKey)
  expect(privateKey).toBe(keys.portfolioPrivateKey)
})

it('the steps to the key of an envelope', () => {
  const { z, info, key, aad, plaintextBytes, paddedBytes } = steps.orderEnvelope
  const { plaintext, envelope } = sealedOrder ?? expect.fail('no order')
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(getBytes(envelopes.recipientPrivateKey))
  expect(hexlify(ecdh.computeSecret(getBytes(envelope.epk)))).toBe(z)
  expect(concat([toUtf8Bytes('service-ecies-v1'), envelope.epk, envelopes.recipient])).toBe(info)
  expect(hkdf(z, info, 32)).toBe(key)
  expect(hexlify(toUtf8Bytes('order'))).toBe(aad)
  expect(toUtf8Bytes(JSON.stringify(plaintext)).length).toBe(plaintextBytes)
  expect(getBytes(envelope.ct).length).toBe(paddedBytes)
})

it('the steps to the domain', () => {
  const line = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
  expect(id(line)).toBe(steps.domain.typeHash)
  const { name, version } = steps.intent.typedData.domain
  const { chainId, escrow: verifyingContract } = intents
  const domain = { name, version, chainId, verifyingContract }
  expect(TypedDataEncoder.hashDomain(domain)).toBe(steps.domain.separator)
})

const signedMessages = ['intent', 'policyIntent', 'sealedRulebook', 'cancelIntent', 'sealedCancel'] as const
it.each(signedMessages)('the steps to the digest of the %s', (name) => {
  const { typeHash, structHash, digest, typedData: data } = steps[name]
  const { EIP712Domain: _, ...types } = data.types
  const encoder = TypedDataEncoder.from(types)
  expect(encoder.primaryType).toBe(data.primaryType)
  expect(id(encoder.encodeType(data.primaryType))).toBe(typeHash)
  expect(encoder.hashStruct(data.primaryType, data.message)).toBe(structHash)
  expect(keccak256(concat(['0x1901', steps.domain.separator, structHash]))).toBe(digest)
  expect(TypedDataEncoder.getPayload(data.domain, types, data.message)).toEqual(data)
})

it('the steps to the digests that are signed', () => {
  const { intent, policyIntent, cancelIntent, sealedCancel } = steps
  expect([intent.digest, policyIntent.digest]).toEqual([intents.intent.digest, intents.rulebook.digest])
  expect(canonicalize(intents.rulebook.plaintext.policy)).toBe(policyIntent.canonicalJson)
  expect(keccak256(toUtf8Bytes(policyIntent.canonicalJson))).toBe(policyIntent.policyHash)
  expect(policyIntent.policyHash).toBe(intents.rulebook.policyHash)
  const { envelope } = sealedRulebook ?? expect.fail('no rulebook')
  expect(envelopeHash(envelope)).toBe(intents.sealedRulebook.envelopeHash)
  expect(steps.sealedRulebook.typedData.message.envelopeHash).toBe(intents.sealedRulebook.envelopeHash)
  expect(steps.sealedRulebook.digest).toBe(intents.sealedRulebook.digest)
  expect(cancelIntent.digest).toBe(cancel.digest)
  expect(envelopeHash(cancel.envelope)).toBe(cancel.envelopeHash)
  expect(sealedCancel.typedData.message.envelopeHash).toBe(cancel.envelopeHash)
  expect(sealedCancel.digest).toBe(cancel.sealedDigest)
})

it.each(steps.calls)('the steps to calling $signature', ({ signature, selector, args, data }) => {
  expect(id(signature).slice(0, 10)).toBe(selector)
  expect(Interface.from([`function ${signature}`]).encodeFunctionData(signature, args)).toBe(data)
})
