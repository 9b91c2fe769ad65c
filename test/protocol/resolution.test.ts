import { expect, it } from 'vitest'
import { z } from 'zod'
import { open } from '../../src/protocol/envelope.js'
import { bytes32Schema, hexBetween, hexToBytes } from '../../src/protocol/hex.js'
import { openOrderSchema } from '../../src/protocol/portfolio.js'
import {
  entryHash,
  openResolution,
  postResolutionSchema,
  resolutionDigest,
  resolutionSchema,
  sealedResolutionDigest,
  sealResolution,
} from '../../src/protocol/resolution.js'
import { signDigest } from '../../src/protocol/signature.js'
import { readVectors } from '../support/vectors.js'

const hex = hexBetween(0, 20_480)
const { entry, plaintext, digest, envelope, sealedDigest, sig, nonce } = readVectors(
  'resolution',
  z.object({
    entry: openOrderSchema,
    plaintext: resolutionSchema,
    digest: hex,
    envelope: z.object({ epk: hex, iv: hex, ct: hex, tag: hex }),
    sealedDigest: hex,
    sig: hex,
    nonce: z.object({
      ...{ resolves: z.literal('nonce'), v: z.literal(1), orderId: bytes32Schema },
      ...{ portfolioHash: bytes32Schema, validBefore: z.int(), digest: hex },
    }),
  }),
)
const { walletPrivateKey, ...domain } = readVectors(
  'intents',
  z.object({ walletPrivateKey: hex, chainId: z.int(), escrow: hex }),
)
const { recipientPrivateKey, recipient, ephemeralPrivateKey, iv } = readVectors(
  'envelopes',
  z.object({ recipientPrivateKey: hex, recipient: hex, ephemeralPrivateKey: hex, iv: hex }),
)

it('a resolution names the entry and its expiry, and is signed inside the seal and outside it', async () => {
  if (plaintext.resolves !== 'order') throw new Error('expected the resolution of an order')
  expect(entryHash(plaintext.orderId, entry)).toBe(plaintext.entryHash)
  for (const change of [{ locked: 1n }, { brokerOrderId: 'never-placed' }, { placedAt: 1 }]) {
    expect(entryHash(plaintext.orderId, { ...entry, ...change })).not.toBe(plaintext.entryHash)
  }
  const { sig: inner, ...unsigned } = plaintext
  expect(resolutionDigest(unsigned, domain)).toBe(digest)
  expect(signDigest(digest, walletPrivateKey)).toBe(inner)
  const later = { ...unsigned, validBefore: unsigned.validBefore + 1 }
  expect(resolutionDigest(later, domain)).not.toBe(digest)
  const randomness = { ephemeralKey: hexToBytes(ephemeralPrivateKey), iv: hexToBytes(iv) }
  expect(await sealResolution(plaintext, recipient, domain, randomness)).toEqual(envelope)
  expect(sealedResolutionDigest(envelope, unsigned.validBefore, domain)).toBe(sealedDigest)
  expect(sealedResolutionDigest(envelope, later.validBefore, domain)).not.toBe(sealedDigest)
  expect(signDigest(sealedDigest, walletPrivateKey)).toBe(sig)
  const posted = { ...envelope, validBefore: unsigned.validBefore, sig }
  expect(postResolutionSchema.parse(posted)).toEqual(posted)
  const { digest: ofNonce, ...lowered } = nonce
  expect(resolutionDigest(lowered, domain)).toBe(ofNonce)
})

it('a resolution opens for its own escrow and chain, and nowhere else', async () => {
  const key = hexToBytes(recipientPrivateKey)
  expect(await openResolution(envelope, key, domain)).toEqual(plaintext)
  const elsewhere = [
    openResolution(envelope, key, { ...domain, chainId: domain.chainId + 1 }),
    openResolution(envelope, key, { ...domain, escrow: `0x${'01'.repeat(20)}` }),
    open(envelope, key, { kind: 'order', context: new Uint8Array() }),
  ]
  await Promise.all(elsewhere.map((each) => expect(each).rejects.toMatchObject({ code: 'undecryptable' })))
})
