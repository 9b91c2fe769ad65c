import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto'
import { getCreate2Address, getCreateAddress, Interface, keccak256, TypedDataEncoder, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { checksum } from '../../src/protocol/address.js'
import {
  authorizationDigest,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import {
  cancelIntentDigest,
  cancelIntentSchema,
  openCancel,
  postCancelSchema,
  sealCancel,
  sealedCancelDigest,
} from '../../src/protocol/cancelIntent.js'
import { encodePolicy } from '../../src/protocol/compactPolicy.js'
import { commitOf, type Envelope, ORDER_PLACE, open, seal } from '../../src/protocol/envelope.js'
import { type Bytes, type Hex, hexLength, hexToBytes } from '../../src/protocol/hex.js'
import {
  accountIdOf,
  bytes32ToName,
  clientOrderIdOf,
  nameToBytes32,
  sharesAddressOf,
} from '../../src/protocol/identifiers.js'
import { intentDigest, intentSchema, sealIntent } from '../../src/protocol/intent.js'
import {
  ledgerKey,
  openBlob,
  openBlobBytes,
  partsOf,
  portfolioHashAfter,
  sealBlob,
  sealBlobBytes,
} from '../../src/protocol/ledgerBlob.js'
import { buyNonce, openingDigest, openingTypedData } from '../../src/protocol/opening.js'
import { policyHash, policySchema } from '../../src/protocol/policy.js'
import { encodeRulebook, policyIntentDigest, rulebookSchema } from '../../src/protocol/policyIntent.js'
import { openOrderSchema, portfolioSchema } from '../../src/protocol/portfolio.js'
import { PORTFOLIO_KEY_MESSAGE, portfolioKeyOf } from '../../src/protocol/portfolioKey.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { openReceipt, receiptSchema } from '../../src/protocol/receipt.js'
import {
  entryHash,
  openResolution,
  postResolutionSchema,
  resolutionDigest,
  resolutionSchema,
  sealedResolutionDigest,
  sealResolution,
} from '../../src/protocol/resolution.js'
import { openRulebookCopy, rulebookCopySchema, sealRulebookCopy } from '../../src/protocol/rulebookCopy.js'
import { envelopeHash, sealedRulebookDigest } from '../../src/protocol/sealedRulebook.js'
import { signDigest } from '../../src/protocol/signDigest.js'
import { openUserBlob } from '../../src/protocol/userBlob.js'
import { hexesIn } from '../support/vectors.js'
import authorizationVectors from '../vectors/authorizations.json' with { type: 'json' }
import blobVectors from '../vectors/blobs.json' with { type: 'json' }
import cancelVectors from '../vectors/cancel.json' with { type: 'json' }
import depositVectors from '../vectors/deposits.json' with { type: 'json' }
import envelopeVectors from '../vectors/envelopes.json' with { type: 'json' }
import identifierVectors from '../vectors/identifiers.json' with { type: 'json' }
import intentVectors from '../vectors/intents.json' with { type: 'json' }
import keyVectors from '../vectors/keys.json' with { type: 'json' }
import openingVectors from '../vectors/opening.json' with { type: 'json' }
import receiptVector from '../vectors/receipt.json' with { type: 'json' }
import resolutionVectors from '../vectors/resolution.json' with { type: 'json' }
import copyVectors from '../vectors/rulebookCopy.json' with { type: 'json' }
import shareVectors from '../vectors/shares.json' with { type: 'json' }

const { toEmployee, ephemeralPrivateKey, iv, ...toEnclave } = hexesIn(envelopeVectors)
const { recipientPrivateKey, recipient } = toEnclave
const enclaveKey = hexToBytes(recipientPrivateKey)
const randomness = { ephemeralKey: hexToBytes(ephemeralPrivateKey), iv: hexToBytes(iv) }
const { walletPrivateKey, chainId, escrow, ...signed } = hexesIn(intentVectors)
const domain = { chainId, escrow }
const market = intentSchema.parse(signed.intent.plaintext)
const limit = intentSchema.parse(signed.limitIntent.plaintext)
const other = `0x${'01'.repeat(32)}` as const
const otherEscrow = { ...domain, escrow: `0x${'01'.repeat(20)}` } as const
const otherChain = { ...domain, chainId: chainId + 1 }

function expectSigned(found: Hex, digest: Hex, sig: Hex): void {
  expect(found).toBe(digest)
  expect(signDigest(digest, walletPrivateKey)).toBe(sig)
}

async function expectUndecryptable(attempts: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(attempts.map((each) => expect(each).rejects.toMatchObject({ code: 'undecryptable' })))
}

it('identifiers', () => {
  const { accountIds, names, clientOrderIds } = hexesIn(identifierVectors)
  for (const { address, accountId } of accountIds) expect(accountIdOf(address)).toBe(accountId)
  for (const { orderId, clientOrderId } of clientOrderIds)
    expect(clientOrderIdOf(orderId)).toBe(clientOrderId)
  for (const { name, bytes32 } of names) {
    expect(nameToBytes32(name)).toBe(bytes32)
    expect(bytes32ToName(bytes32)).toBe(name)
  }
})

const { token, implementation, equities } = hexesIn(shareVectors)
it.each(equities)('the shares of $symbol', ({ symbol, code, shares }) => {
  expect(sharesAddressOf(token, symbol)).toBe(shares)
  expect(sharesAddressOf(checksum(token), symbol)).toBe(shares)
  // The rules again, by ethers.
  expect(getCreateAddress({ from: token, nonce: 1 }).toLowerCase()).toBe(implementation.toLowerCase())
  expect(code).toContain(implementation.slice(2).toLowerCase())
  expect(getCreate2Address(token, nameToBytes32(symbol), keccak256(code))).toBe(shares)
})

const kindSchema = z.enum(['order', 'policy', 'portfolio', 'notice'])
const envelopes = [toEnclave, toEmployee].flatMap(({ cases, ...keys }) =>
  cases.map(({ kind, ...one }) => ({ ...keys, ...one, kind: kindSchema.parse(kind) })),
)
it.each(envelopes)('an envelope of kind $kind', async ({ kind, context, plaintext, commit, ...vector }) => {
  const [key, place] = [hexToBytes(vector.recipientPrivateKey), { kind, context: hexToBytes(context) }]
  expect(publicKeyOf(key)).toBe(vector.recipient)
  expect(await seal(plaintext, vector.recipient, place, randomness)).toEqual(vector.envelope)
  expect(await open(vector.envelope, key, place)).toEqual(plaintext)
  expect(commitOf(vector.envelope)).toBe(commit)
  const opened = openWithOpenSsl(vector.envelope, key, vector.recipient, place)
  expect(JSON.parse(opened.toString())).toEqual(plaintext)
})

/** The scheme again, from OpenSSL's primitives alone. */
function openWithOpenSsl(
  { epk, iv, ct, tag }: Envelope,
  privateKey: Bytes,
  recipient: Hex,
  { kind, context }: { kind: string; context: Bytes },
): Buffer {
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(privateKey)
  const info = Buffer.concat([Buffer.from('service-ecies-v1'), hexToBytes(epk), hexToBytes(recipient)])
  const key = hkdfSync('sha256', ecdh.computeSecret(hexToBytes(epk)), Buffer.alloc(0), info, 32)
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), hexToBytes(iv))
  decipher.setAAD(Buffer.concat([Buffer.from(kind), context]))
  decipher.setAuthTag(hexToBytes(tag))
  return Buffer.concat([decipher.update(hexToBytes(ct)), decipher.final()])
}

describe('intents', () => {
  it('have their digests and signatures', () => {
    expectSigned(intentDigest(market, domain), signed.intent.digest, market.sig)
    expectSigned(intentDigest(limit, domain), signed.limitIntent.digest, limit.sig)
  })

  it('are opened from a receipt, whose content the escrow is committed to', async () => {
    const receipt = receiptSchema.parse(receiptVector.receipt)
    expect(commitOf(receipt)).toBe(receiptVector.commit)
    expect(hexLength(receipt.ct)).toBe(receiptVector.paddedBytes)
    expect(await openReceipt(receipt)).toEqual(market)
  })

  it('are sealed in one size, whether they have a limit or not', async () => {
    const least = { ...market, symbol: 'F', maxSpend: 1n, nonce: 1 }
    const most = { symbol: 'ABCDEFGHIJK', maxSpend: 2n ** 256n - 1n, nonce: Number.MAX_SAFE_INTEGER }
    const longest = { ...limit, ...most, maxSpend: 2n ** 64n - 1n, limitPrice: 2n ** 64n - 1n }
    for (const intent of [market, limit, least, { ...market, ...most }, longest]) {
      expect(hexLength((await sealIntent(intent, recipient)).ct)).toBe(768)
    }
  })

  it.each([
    ['version 1 with a limit price', { ...signed.intent.plaintext, limitPrice: '1' }],
    ['version 2 without its time in force', { ...signed.limitIntent.plaintext, timeInForce: undefined }],
    ['version 2 of a withdrawal', { ...signed.limitIntent.plaintext, side: 'WITHDRAW' }],
    ['version 3', { ...signed.limitIntent.plaintext, v: 3 }],
  ])('an intent is refused: %s', (_name, plaintext) => {
    expect(intentSchema.safeParse(JSON.parse(JSON.stringify(plaintext))).success).toBe(false)
  })
})

it('a rulebook is signed by the hash of its canonical JSON, and sealed by the hash of its envelope', () => {
  const rulebook = rulebookSchema.parse(signed.rulebook.plaintext)
  expect(policyHash(rulebook.policy)).toBe(signed.rulebook.policyHash)
  expectSigned(policyIntentDigest(rulebook, domain), signed.rulebook.digest, rulebook.sig)
  const { author, digest, envelopeHash: hash } = signed.sealedRulebook
  const posted = toEnclave.cases[1]?.envelope ?? expect.fail('no rulebook')
  expect(envelopeHash(posted)).toBe(hash)
  expectSigned(sealedRulebookDigest({ orgId: author.orgId, envelopeHash: hash }, domain), digest, author.sig)
})

it('the copy of a rulebook is sealed to its author, and opens too where an earlier client made it, of JSON', async () => {
  const plaintext = rulebookSchema.parse(copyVectors.plaintext)
  const [copy, ofJson] = [copyVectors.copy, copyVectors.copyOfJson].map((one) =>
    rulebookCopySchema.parse(one),
  )
  if (!copy || !ofJson) return expect.fail('no copy')
  const key = hexToBytes(toEmployee.recipientPrivateKey)
  expect(await sealRulebookCopy(plaintext, toEmployee.recipient, copy, randomness)).toEqual(copy)
  expect(await openRulebookCopy(copy, key)).toEqual(plaintext)
  const place = { kind: 'rulebook-copy', context: hexToBytes(hexesIn(copyVectors).context) }
  const opened = openWithOpenSsl(copy.envelope, key, toEmployee.recipient, place)
  expect(opened).toEqual(Buffer.from(encodeRulebook(plaintext)))
  expect(await openRulebookCopy(ofJson, key)).toEqual(plaintext)
})

describe('a cancel', () => {
  const { context, envelope: posted, sig, ...digests } = hexesIn(cancelVectors)
  const plaintext = cancelIntentSchema.parse(cancelVectors.plaintext)
  const order = { orderId: plaintext.orderId, account: plaintext.account }

  it('is signed inside the seal, and outside it by the hash of its envelope', async () => {
    expectSigned(cancelIntentDigest(order, domain), digests.digest, plaintext.sig)
    expect(await sealCancel(plaintext, recipient, domain, randomness)).toEqual(posted)
    expect(commitOf(posted)).toBe(digests.commit)
    expect(envelopeHash(posted)).toBe(digests.envelopeHash)
    expectSigned(sealedCancelDigest(order.orderId, posted, domain), digests.sealedDigest, sig)
    expect(postCancelSchema.parse({ ...posted, sig })).toEqual({ ...posted, sig })
  })

  it('opens under its own order, escrow and chain, and nowhere else', async () => {
    expect(await openCancel(posted, enclaveKey, order, domain)).toBe(plaintext.sig)
    const place = { kind: 'cancel', context: hexToBytes(context) }
    const opened = openWithOpenSsl(posted, enclaveKey, recipient, place)
    expect(cancelIntentSchema.parse(JSON.parse(opened.toString()))).toEqual(plaintext)
    await expectUndecryptable([
      openCancel(posted, enclaveKey, { ...order, orderId: other }, domain),
      openCancel(posted, enclaveKey, order, otherChain),
      openCancel(posted, enclaveKey, order, otherEscrow),
      open(posted, enclaveKey, ORDER_PLACE),
    ])
    const anothers = await sealCancel({ ...plaintext, account: otherEscrow.escrow }, recipient, domain)
    const refused = expect(openCancel(anothers, enclaveKey, order, domain)).rejects
    await refused.toMatchObject({ code: 'invalid-plaintext' })
  })
})

it('keys are derived from the wallet’s signature, and from the master key', async () => {
  const keys = hexesIn(keyVectors)
  expect(keys.message).toBe(PORTFOLIO_KEY_MESSAGE)
  const signature = await new Wallet(keys.walletPrivateKey).signMessage(PORTFOLIO_KEY_MESSAGE)
  expect(signature).toBe(keys.signature)
  const key = await portfolioKeyOf(keys.signature, keys.account)
  expect(key).toEqual(hexToBytes(keys.portfolioPrivateKey))
  expect(publicKeyOf(key)).toBe(keys.portfolioPublicKey)
  const master = hexToBytes(keys.masterKey)
  expect(ledgerKey(master, 'account', keys.accountId)).toEqual(hexToBytes(keys.accountKey))
  expect(ledgerKey(master, 'org', keys.orgId)).toEqual(hexToBytes(keys.orgKey))
})

describe('blobs', () => {
  const { chainId, ledger, ...blobs } = hexesIn(blobVectors)
  const placed = ({ id, key, version, iv }: Record<'id' | 'key' | 'version' | 'iv', Hex>) =>
    [{ chainId, ledger, id, version: BigInt(version) }, hexToBytes(key), hexToBytes(iv)] as const

  it('the blob of a rulebook', async () => {
    const { plaintext, blob, ...vector } = blobs.policyBlob
    const [place, key, iv] = placed(vector)
    const encoded = encodePolicy(policySchema.parse(plaintext))
    expect(await sealBlobBytes(encoded, key, place, iv)).toBe(blob)
    expect(await openBlobBytes(blob, key, place)).toEqual(encoded)
  })

  it('the enclave’s blob of a portfolio', async () => {
    const { plaintext, blob, ...vector } = blobs.enclaveBlob
    const [place, key, iv] = placed(vector)
    expect(await sealBlob(plaintext, key, place, iv)).toBe(blob)
    expect(await openBlob(blob, key, place)).toEqual(plaintext)
    const elsewhere = [
      { ...place, version: place.version + 1n },
      { ...place, chainId: chainId + 1 },
      { ...place, ledger: otherEscrow.escrow },
    ]
    await expectUndecryptable(elsewhere.map((each) => openBlob(blob, key, each)))
  })

  it('the owner’s blob of a portfolio', async () => {
    const { accountId, privateKey, plaintext, blob } = blobs.userBlob
    const [key, version] = [hexToBytes(privateKey), BigInt(blobs.userBlob.version)]
    expect(await openUserBlob(blob, key, accountId, version)).toEqual(plaintext)
    expect(portfolioSchema.safeParse(plaintext).success).toBe(true)
    await expectUndecryptable([openUserBlob(blob, key, accountId, version - 1n)])
  })
})

describe('authorizations', () => {
  const { signerPrivateKey, chainId, authorizations, ...hashes } = hexesIn(authorizationVectors)

  it.each(authorizations)('$primaryType', ({ verifyingContract, digest, ...wire }) => {
    const signed = signedAuthorizationSchema.parse(wire)
    const domain = { chainId, verifyingContract }
    expect(authorizationDigest(signed, domain)).toBe(digest)
    expect(signAuthorization(signed, domain, signerPrivateKey)).toEqual(signed)
  })

  it('the running hashes of a rulebook’s parts, and of a portfolio’s writes', () => {
    const { repeated, bytes, parts, digest } = hashes.policyDigest
    const found = partsOf(`0x${repeated.slice(2).repeat(bytes)}`)
    expect(found.parts.map(hexLength)).toEqual(parts)
    expect(found.digest).toBe(digest)
    for (const { previous, hash, version, ...write } of hashes.portfolioHashes) {
      expect(portfolioHashAfter(previous, { ...write, version: BigInt(version) })).toBe(hash)
    }
  })
})

describe('an opening by a signature', () => {
  const { usdc, order, separators, buy, request } = hexesIn(openingVectors)
  const place = { ...domain, usdc }

  it.each([
    ['of a buy', { ...order, amount: BigInt(buy.amount) }, buy, separators.usdc],
    ['of a request', { ...order, amount: 0n }, request, separators.escrow],
  ])('%s is signed by the account', (_, opening, { digest, sig }, separator) => {
    expect(order.commit).toBe(toEnclave.cases[0]?.commit)
    const { domain, types, message } = openingTypedData(opening, place)
    expect(TypedDataEncoder.hashDomain(domain)).toBe(separator)
    expect(TypedDataEncoder.hash(domain, types, message)).toBe(digest)
    expectSigned(openingDigest(opening, place), digest, sig)
  })

  it('names the order of a buy in its nonce', () => {
    expect(buyNonce(order)).toBe(buy.nonce)
    const others = [{ orderId: other }, { commit: other }, { deadline: order.deadline + 1 }]
    for (const change of others) expect(buyNonce({ ...order, ...change })).not.toBe(buy.nonce)
  })
})

it.each(Object.entries(hexesIn(depositVectors)))(
  'a deposit of %s is signed and sealed as any other order, and its escrow opened by its call',
  async (name, { plaintext, digest, envelope, commit, call }) => {
    const intent = intentSchema.parse(plaintext)
    const { orderId, maxSpend, expiry, symbol } = intent
    expect(intent.side).toBe('DEPOSIT')
    expectSigned(intentDigest(intent, domain), digest, intent.sig)
    expect(await seal(plaintext, recipient, ORDER_PLACE, randomness)).toEqual(envelope)
    expect(await open(envelope, enclaveKey, ORDER_PLACE)).toEqual(plaintext)
    expect(commitOf(envelope)).toBe(commit)
    const args = [orderId, commit, ...(name === 'usdc' ? [] : [nameToBytes32(symbol)]), maxSpend, expiry]
    expect(call.args).toEqual(args.map(String))
    expect(new Interface(orderEscrowAbi).encodeFunctionData(call.signature, args)).toBe(call.data)
  },
)

describe('a resolution', () => {
  const { envelope: posted, digest, sealedDigest, sig } = hexesIn(resolutionVectors)
  const plaintext = resolutionSchema.parse(resolutionVectors.plaintext)

  it('names the entry and its expiry, and is signed inside the seal and outside it', async () => {
    if (plaintext.resolves !== 'order') throw new Error('expected the resolution of an order')
    const entry = openOrderSchema.parse(resolutionVectors.entry)
    expect(entryHash(plaintext.orderId, entry)).toBe(plaintext.entryHash)
    for (const change of [{ locked: 1n }, { brokerOrderId: 'never-placed' }, { placedAt: 1 }]) {
      expect(entryHash(plaintext.orderId, { ...entry, ...change })).not.toBe(plaintext.entryHash)
    }
    const { sig: inner, ...unsigned } = plaintext
    const validBefore = unsigned.validBefore + 1
    expectSigned(resolutionDigest(unsigned, domain), digest, inner)
    expect(resolutionDigest({ ...unsigned, validBefore }, domain)).not.toBe(digest)
    expect(await sealResolution(plaintext, recipient, domain, randomness)).toEqual(posted)
    expectSigned(sealedResolutionDigest(posted, unsigned.validBefore, domain), sealedDigest, sig)
    expect(sealedResolutionDigest(posted, validBefore, domain)).not.toBe(sealedDigest)
    const body = { ...posted, validBefore, sig }
    expect(postResolutionSchema.parse(body)).toEqual(body)
    const { nonce, move } = hexesIn(resolutionVectors)
    expect(resolutionDigest({ ...nonce, resolves: 'nonce', v: 1 }, domain)).toBe(nonce.digest)
    expect(resolutionDigest({ ...move, resolves: 'move', v: 1 }, domain)).toBe(move.digest)
  })

  it('opens for its own escrow and chain, and nowhere else', async () => {
    expect(await openResolution(posted, enclaveKey, domain)).toEqual(plaintext)
    await expectUndecryptable([
      openResolution(posted, enclaveKey, otherChain),
      openResolution(posted, enclaveKey, otherEscrow),
      open(posted, enclaveKey, ORDER_PLACE),
    ])
  })
})
