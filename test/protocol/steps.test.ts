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
import * as z from 'zod'
import { readVectors } from '../support/vectors.js'

const text = z.string()
const envelopeOf = z.object({ epk: text, iv: text, tag: text, ct: text })
const sealed = z.object({ plaintext: z.unknown(), envelope: envelopeOf })
const typedData = z.object({
  types: z.record(text, z.array(z.object({ name: text, type: text }))),
  domain: z.object({ name: text, version: text, chainId: text, verifyingContract: text }),
  primaryType: text,
  message: z.record(text, z.unknown()),
})
const signed = { typeHash: text, structHash: text, digest: text, typedData }
const steps = readVectors(
  'steps',
  z.object({
    personalSign: z.object({ message: text, digest: text }),
    portfolioKey: z.object({ ikm: text, okm: text, privateKey: text }),
    orderEnvelope: z.object({
      z: text,
      info: text,
      key: text,
      aad: text,
      plaintextBytes: z.int(),
      paddedBytes: z.int(),
    }),
    domain: z.object({ typeHash: text, separator: text }),
    intent: z.object(signed),
    policyIntent: z.object({ canonicalJson: text, policyHash: text, ...signed }),
    sealedRulebook: z.object(signed),
    cancelIntent: z.object(signed),
    sealedCancel: z.object(signed),
    calls: z.array(z.object({ signature: text, selector: text, args: z.array(text), data: text })),
  }),
)
const keys = readVectors('keys', z.object({ signature: text, portfolioPrivateKey: text }))
const envelopes = readVectors(
  'envelopes',
  z.object({ recipientPrivateKey: text, recipient: text, cases: z.tuple([sealed, sealed]) }),
)
const intents = readVectors(
  'intents',
  z.object({
    chainId: z.int(),
    escrow: text,
    intent: z.object({ plaintext: z.record(text, z.unknown()), digest: text }),
    rulebook: z.object({ plaintext: z.looseObject({ policy: z.unknown() }), policyHash: text, digest: text }),
    sealedRulebook: z.object({ envelopeHash: text, digest: text }),
  }),
)

const cancel = readVectors(
  'cancel',
  z.object({ envelope: envelopeOf, digest: text, envelopeHash: text, sealedDigest: text }),
)

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function hkdf(ikm: string, info: string, length: number): string {
  return hexlify(new Uint8Array(hkdfSync('sha256', getBytes(ikm), new Uint8Array(), getBytes(info), length)))
}

it('the steps to the portfolio key', () => {
  expect(hashMessage(steps.personalSign.message)).toBe(steps.personalSign.digest)
  const { ikm, okm, privateKey } = steps.portfolioKey
  expect(ikm).toBe(keys.signature.slice(0, 130))
  expect(hkdf(ikm, hexlify(toUtf8Bytes(steps.personalSign.message)), 48)).toBe(okm)
  expect(`0x${((BigInt(okm) % (N - 1n)) + 1n).toString(16).padStart(64, '0')}`).toBe(privateKey)
  expect(privateKey).toBe(keys.portfolioPrivateKey)
})

it('the steps to the key of an envelope', () => {
  const { orderEnvelope } = steps
  const [{ plaintext, envelope }] = envelopes.cases
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(getBytes(envelopes.recipientPrivateKey))
  expect(hexlify(ecdh.computeSecret(getBytes(envelope.epk)))).toBe(orderEnvelope.z)
  expect(concat([toUtf8Bytes('service-ecies-v1'), envelope.epk, envelopes.recipient])).toBe(
    orderEnvelope.info,
  )
  expect(hkdf(orderEnvelope.z, orderEnvelope.info, 32)).toBe(orderEnvelope.key)
  expect(hexlify(toUtf8Bytes('order'))).toBe(orderEnvelope.aad)
  expect(toUtf8Bytes(JSON.stringify(plaintext)).length).toBe(orderEnvelope.plaintextBytes)
  expect(getBytes(envelope.ct).length).toBe(orderEnvelope.paddedBytes)
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
  const { EIP712Domain, ...types } = data.types
  expect(EIP712Domain).toBeDefined()
  const encoder = TypedDataEncoder.from(types)
  expect(encoder.primaryType).toBe(data.primaryType)
  expect(id(encoder.encodeType(data.primaryType))).toBe(typeHash)
  expect(encoder.hashStruct(data.primaryType, data.message)).toBe(structHash)
  expect(keccak256(concat(['0x1901', steps.domain.separator, structHash]))).toBe(digest)
  expect(TypedDataEncoder.getPayload(data.domain, types, data.message)).toEqual(data)
})

it('the steps to the digests that are signed', () => {
  expect(steps.intent.digest).toBe(intents.intent.digest)
  expect(steps.policyIntent.digest).toBe(intents.rulebook.digest)
  const { canonicalJson, policyHash } = steps.policyIntent
  expect(canonicalize(intents.rulebook.plaintext.policy)).toBe(canonicalJson)
  expect(keccak256(toUtf8Bytes(canonicalJson))).toBe(policyHash)
  expect(policyHash).toBe(intents.rulebook.policyHash)
  const [, { envelope }] = envelopes.cases
  const { envelopeHash } = intents.sealedRulebook
  expect(keccak256(concat([envelope.epk, envelope.iv, envelope.tag, envelope.ct]))).toBe(envelopeHash)
  expect(steps.sealedRulebook.typedData.message).toMatchObject({ envelopeHash })
  expect(steps.sealedRulebook.digest).toBe(intents.sealedRulebook.digest)
  expect(steps.cancelIntent.digest).toBe(cancel.digest)
  const { epk, iv, tag, ct } = cancel.envelope
  expect(keccak256(concat([epk, iv, tag, ct]))).toBe(cancel.envelopeHash)
  expect(steps.sealedCancel.typedData.message).toMatchObject({ envelopeHash: cancel.envelopeHash })
  expect(steps.sealedCancel.digest).toBe(cancel.sealedDigest)
})

it.each(steps.calls)('the steps to calling $signature', ({ signature, selector, args, data }) => {
  expect(id(signature).slice(0, 10)).toBe(selector)
  expect(Interface.from([`function ${signature}`]).encodeFunctionData(signature, args)).toBe(data)
})
