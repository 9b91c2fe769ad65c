import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto'
import { getCreate2Address, getCreateAddress, Interface, keccak256, TypedDataEncoder, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { addressSchema, checksum } from '../../src/protocol/address.js'
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
import { commitOf, ORDER_PLACE, open, seal } from '../../src/protocol/envelope.js'
import {
  type Bytes,
  bytes32Schema,
  type Hex,
  hexBetween,
  hexLength,
  hexToBytes,
} from '../../src/protocol/hex.js'
import {
  accountIdOf,
  bytes32ToName,
  clientOrderIdOf,
  nameToBytes32,
  sharesAddressOf,
} from '../../src/protocol/identifiers.js'
import { type Intent, intentDigest, intentSchema, sealIntent } from '../../src/protocol/intent.js'
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
import {
  envelopeHash,
  rulebookAuthorSchema,
  sealedRulebookDigest,
} from '../../src/protocol/sealedRulebook.js'
import { signDigest } from '../../src/protocol/signDigest.js'
import { openUserBlob } from '../../src/protocol/userBlob.js'
import { readVectors } from '../support/vectors.js'

const hex = hexBetween(0, 20_480)
const envelope = z.object({ epk: hex, iv: hex, ct: hex, tag: hex })
const sealedCase = z.object({
  kind: z.enum(['order', 'policy', 'portfolio', 'notice']),
  context: hex,
  plaintext: z.unknown(),
  envelope,
  commit: hex,
})

const party = { recipientPrivateKey: hex, recipient: hex, cases: z.array(sealedCase) }
const envelopes = readVectors(
  'envelopes',
  z.object({ ...party, ephemeralPrivateKey: hex, iv: hex, toEmployee: z.object(party) }),
)
const { toEmployee, ...toEnclave } = envelopes
const enclaveKey = hexToBytes(toEnclave.recipientPrivateKey)
const randomness = { ephemeralKey: hexToBytes(envelopes.ephemeralPrivateKey), iv: hexToBytes(envelopes.iv) }
const intents = readVectors(
  'intents',
  z.object({
    walletPrivateKey: hex,
    chainId: z.int(),
    escrow: hex,
    intent: z.object({ plaintext: intentSchema, digest: hex }),
    limitIntent: z.object({ plaintext: intentSchema, digest: hex }),
    rulebook: z.object({ plaintext: rulebookSchema, policyHash: hex, digest: hex }),
    sealedRulebook: z.object({ author: rulebookAuthorSchema, envelopeHash: hex, digest: hex }),
  }),
)
const receiptVector = z.object({ receipt: receiptSchema, commit: hex, paddedBytes: z.int() })
const { walletPrivateKey, chainId, escrow } = intents
const domain = { chainId, escrow }

const encoded = (intent: Intent) => z.encode(intentSchema, intent)

function expectSigned(found: Hex, digest: Hex, sig: Hex): void {
  expect(found).toBe(digest)
  expect(signDigest(digest, walletPrivateKey)).toBe(sig)
}

describe('identifiers', () => {
  const vectors = readVectors(
    'identifiers',
    z.object({
      accountIds: z.array(z.object({ address: hex, accountId: hex })),
      names: z.array(z.object({ name: z.string(), bytes32: hex })),
      clientOrderIds: z.array(z.object({ orderId: hex, clientOrderId: z.string() })),
    }),
  )

  it('match', () => {
    for (const { address, accountId } of vectors.accountIds) expect(accountIdOf(address)).toBe(accountId)
    for (const { orderId, clientOrderId } of vectors.clientOrderIds) {
      expect(clientOrderIdOf(orderId)).toBe(clientOrderId)
    }
    for (const { name, bytes32 } of vectors.names) {
      expect(nameToBytes32(name)).toBe(bytes32)
      expect(bytes32ToName(bytes32)).toBe(name)
    }
  })
})

describe('shares', () => {
  const { token, implementation, equities } = readVectors(
    'shares',
    z.object({
      token: hex,
      implementation: hex,
      equities: z.array(z.object({ symbol: z.string(), code: hex, shares: addressSchema })),
    }),
  )

  it.each(equities)('are those of $symbol', ({ symbol, code, shares }) => {
    expect(sharesAddressOf(token, symbol)).toBe(shares)
    expect(sharesAddressOf(checksum(token), symbol)).toBe(shares)
    // The rules again, by ethers.
    expect(getCreateAddress({ from: token, nonce: 1 }).toLowerCase()).toBe(implementation)
    expect(code).toContain(implementation.slice(2))
    expect(getCreate2Address(token, nameToBytes32(symbol), keccak256(code))).toBe(shares)
  })
})

describe('envelopes', () => {
  const cases = [toEnclave, toEmployee].flatMap(({ cases: list, ...keys }) =>
    list.map((one) => ({ ...keys, ...one })),
  )

  it.each(cases)(
    '$kind',
    async ({ kind, context, plaintext, recipient, recipientPrivateKey, commit, ...vector }) => {
      const place = { kind, context: hexToBytes(context) }
      expect(publicKeyOf(hexToBytes(recipientPrivateKey))).toBe(recipient)
      expect(await seal(plaintext, recipient, place, randomness)).toEqual(vector.envelope)
      expect(await open(vector.envelope, hexToBytes(recipientPrivateKey), place)).toEqual(plaintext)
      expect(commitOf(vector.envelope)).toBe(commit)
      const opened = openWithOpenSsl(vector.envelope, recipientPrivateKey, recipient, kind, place.context)
      expect(JSON.parse(opened.toString())).toEqual(plaintext)
    },
  )
})

/** The scheme again, from OpenSSL's primitives alone. */
function openWithOpenSsl(
  { epk, iv, ct, tag }: z.output<typeof envelope>,
  privateKey: Hex,
  recipient: Hex,
  kind: string,
  context: Bytes,
): Buffer {
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(hexToBytes(privateKey))
  const info = Buffer.concat([Buffer.from('service-ecies-v1'), hexToBytes(epk), hexToBytes(recipient)])
  const key = hkdfSync('sha256', ecdh.computeSecret(hexToBytes(epk)), Buffer.alloc(0), info, 32)
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), hexToBytes(iv))
  decipher.setAAD(Buffer.concat([Buffer.from(kind), context]))
  decipher.setAuthTag(hexToBytes(tag))
  return Buffer.concat([decipher.update(hexToBytes(ct)), decipher.final()])
}

describe('intents', () => {
  it.each([intents.intent, intents.limitIntent])(
    'have their digests and signatures: version $plaintext.v',
    ({ plaintext: intent, digest }) => {
      expectSigned(intentDigest(intent, domain), digest, intent.sig)
    },
  )

  it('are opened from a receipt, whose content the escrow is committed to', async () => {
    const { receipt, commit, paddedBytes } = readVectors('receipt', receiptVector)
    expect(commitOf(receipt)).toBe(commit)
    expect(hexLength(receipt.ct)).toBe(paddedBytes)
    expect(await openReceipt(receipt)).toEqual(intents.intent.plaintext)
  })

  it('are sealed in one size, whether they have a limit or not', async () => {
    const { plaintext: market } = intents.intent
    const { plaintext: limit } = intents.limitIntent
    const least = { ...market, symbol: 'F', maxSpend: 1n, nonce: 1 }
    const most = { symbol: 'ABCDEFGHIJK', maxSpend: 2n ** 256n - 1n, nonce: Number.MAX_SAFE_INTEGER }
    const longest = { ...limit, ...most, maxSpend: 2n ** 64n - 1n, limitPrice: 2n ** 64n - 1n }
    const sealed = [market, limit, least, { ...market, ...most }, longest].map(async (intent) => {
      const { ct } = await sealIntent(intentSchema.parse(encoded(intent)), toEnclave.recipient)
      return hexToBytes(ct).length
    })
    expect(new Set(await Promise.all(sealed))).toEqual(new Set([768]))
  })

  it.each([
    ['version 1 with a limit price', { ...encoded(intents.intent.plaintext), limitPrice: '1' }],
    [
      'version 2 without its time in force',
      { ...encoded(intents.limitIntent.plaintext), timeInForce: undefined },
    ],
    ['version 2 of a withdrawal', { ...encoded(intents.limitIntent.plaintext), side: 'WITHDRAW' }],
    ['version 3', { ...encoded(intents.limitIntent.plaintext), v: 3 }],
  ])('an intent is refused: %s', (_name, plaintext) => {
    expect(intentSchema.safeParse(JSON.parse(JSON.stringify(plaintext))).success).toBe(false)
  })

  it('cover the rulebook by the hash of its canonical JSON', () => {
    const { plaintext: rulebook, digest, policyHash: hash } = intents.rulebook
    expect(policyHash(rulebook.policy)).toBe(hash)
    expectSigned(policyIntentDigest(rulebook, domain), digest, rulebook.sig)
  })
})

describe('a sealed rulebook', () => {
  it('is signed by the hash of its envelope', () => {
    const { author, digest, envelopeHash: hash } = intents.sealedRulebook
    const posted = toEnclave.cases.find(({ kind }) => kind === 'policy')
    expect(envelopeHash(envelope.parse(posted?.envelope))).toBe(hash)
    expectSigned(
      sealedRulebookDigest({ orgId: author.orgId, envelopeHash: hash }, domain),
      digest,
      author.sig,
    )
  })
})

describe('the copy of a rulebook', () => {
  const { context, plaintext, copy, copyOfJson } = readVectors(
    'rulebookCopy',
    z.object({
      context: hex,
      plaintext: rulebookSchema,
      copy: rulebookCopySchema,
      copyOfJson: rulebookCopySchema,
    }),
  )
  const key = hexToBytes(toEmployee.recipientPrivateKey)
  const place = { kind: 'rulebook-copy' as const, context: hexToBytes(context) }

  it('is sealed to its author', async () => {
    const { recipientPrivateKey, recipient } = toEmployee
    expect(await sealRulebookCopy(plaintext, recipient, copy, randomness)).toEqual(copy)
    expect(await openRulebookCopy(copy, key)).toEqual(plaintext)
    const opened = openWithOpenSsl(copy.envelope, recipientPrivateKey, recipient, place.kind, place.context)
    expect(opened).toEqual(Buffer.from(encodeRulebook(plaintext)))
  })

  it('opens too where an earlier version of the client made it, of JSON', async () => {
    expect(await openRulebookCopy(copyOfJson, key)).toEqual(plaintext)
  })
})

describe('a cancel', () => {
  const {
    context,
    plaintext,
    envelope: posted,
    sig,
    ...digests
  } = readVectors(
    'cancel',
    z.object({
      context: hex,
      plaintext: cancelIntentSchema,
      digest: hex,
      envelope,
      commit: hex,
      envelopeHash: hex,
      sealedDigest: hex,
      sig: hex,
    }),
  )
  const { recipientPrivateKey, recipient } = toEnclave
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
    const opened = openWithOpenSsl(posted, recipientPrivateKey, recipient, 'cancel', hexToBytes(context))
    expect(cancelIntentSchema.parse(JSON.parse(opened.toString()))).toEqual(plaintext)
    const other = `0x${'01'.repeat(32)}` as const
    const elsewhere = [
      openCancel(posted, enclaveKey, { ...order, orderId: other }, domain),
      openCancel(posted, enclaveKey, order, { ...domain, chainId: chainId + 1 }),
      openCancel(posted, enclaveKey, order, { ...domain, escrow: `0x${'01'.repeat(20)}` }),
      open(posted, enclaveKey, { kind: 'order', context: new Uint8Array() }),
    ]
    await Promise.all(elsewhere.map((each) => expect(each).rejects.toMatchObject({ code: 'undecryptable' })))
  })

  it('is not another account’s', async () => {
    const account = `0x${'02'.repeat(20)}` as const
    const anothers = await sealCancel({ ...plaintext, account }, recipient, domain)
    await expect(openCancel(anothers, enclaveKey, order, domain)).rejects.toMatchObject({
      code: 'invalid-plaintext',
    })
  })
})

describe('keys', () => {
  const keys = readVectors(
    'keys',
    z.object({
      walletPrivateKey: hex,
      account: hex,
      message: z.literal(PORTFOLIO_KEY_MESSAGE),
      signature: hex,
      portfolioPrivateKey: hex,
      portfolioPublicKey: hex,
      masterKey: hex,
      accountId: hex,
      accountKey: hex,
      orgId: hex,
      orgKey: hex,
    }),
  )

  it('derive the portfolio key from the wallet', async () => {
    const signature = await new Wallet(keys.walletPrivateKey).signMessage(PORTFOLIO_KEY_MESSAGE)
    expect(signature).toBe(keys.signature)
    const key = await portfolioKeyOf(keys.signature, keys.account)
    expect(key).toEqual(hexToBytes(keys.portfolioPrivateKey))
    expect(publicKeyOf(key)).toBe(keys.portfolioPublicKey)
  })

  it('derive the ledger keys from the master key', () => {
    const master = hexToBytes(keys.masterKey)
    expect(ledgerKey(master, 'account', keys.accountId)).toEqual(hexToBytes(keys.accountKey))
    expect(ledgerKey(master, 'org', keys.orgId)).toEqual(hexToBytes(keys.orgKey))
  })
})

describe('blobs', () => {
  const stored = z.object({
    id: bytes32Schema,
    key: hex,
    version: z.coerce.bigint(),
    iv: hex,
    plaintext: z.unknown(),
    blob: hex,
  })
  const { chainId, ledger, ...blobs } = readVectors(
    'blobs',
    z.object({
      chainId: z.int(),
      ledger: hex,
      enclaveBlob: stored,
      policyBlob: stored,
      userBlob: z.object({
        accountId: hex,
        version: z.coerce.bigint(),
        privateKey: hex,
        plaintext: portfolioSchema,
        blob: hex,
      }),
    }),
  )

  it('policyBlob', async () => {
    const { id, key, version, iv, plaintext, blob } = blobs.policyBlob
    const place = { chainId, ledger, id, version }
    const encoded = encodePolicy(policySchema.parse(plaintext))
    expect(await sealBlobBytes(encoded, hexToBytes(key), place, hexToBytes(iv))).toBe(blob)
    expect(await openBlobBytes(blob, hexToBytes(key), place)).toEqual(encoded)
  })

  it('enclaveBlob', async () => {
    const { id, key, version, iv, plaintext, blob } = blobs.enclaveBlob
    const place = { chainId, ledger, id, version }
    expect(await sealBlob(plaintext, hexToBytes(key), place, hexToBytes(iv))).toBe(blob)
    expect(await openBlob(blob, hexToBytes(key), place)).toEqual(plaintext)
    const elsewhere = [
      { ...place, version: version + 1n },
      { ...place, chainId: chainId + 1 },
      { ...place, ledger: `0x${'01'.repeat(20)}` as const },
    ]
    for (const other of elsewhere) {
      await expect(openBlob(blob, hexToBytes(key), other)).rejects.toMatchObject({ code: 'undecryptable' })
    }
  })

  it('userBlob', async () => {
    const { accountId, version, privateKey, plaintext, blob } = blobs.userBlob
    const key = hexToBytes(privateKey)
    expect(portfolioSchema.parse(await openUserBlob(blob, key, accountId, version))).toEqual(plaintext)
    await expect(openUserBlob(blob, key, accountId, version - 1n)).rejects.toMatchObject({
      code: 'undecryptable',
    })
  })
})

describe('authorizations', () => {
  const { signerPrivateKey, chainId, authorizations, portfolioHashes, policyDigest } = readVectors(
    'authorizations',
    z.object({
      signerPrivateKey: hex,
      chainId: z.int(),
      authorizations: z.array(z.looseObject({ verifyingContract: hex, digest: hex })),
      portfolioHashes: z.array(
        z.object({ previous: hex, version: z.coerce.bigint(), enclaveBlob: hex, userBlob: hex, hash: hex }),
      ),
      policyDigest: z.object({ repeated: hex, bytes: z.int(), parts: z.array(z.int()), digest: hex }),
    }),
  )

  it.each(authorizations)('$primaryType', ({ verifyingContract, digest, ...wire }) => {
    const signed = signedAuthorizationSchema.parse(wire)
    const domain = { chainId, verifyingContract }
    expect(authorizationDigest(signed, domain)).toBe(digest)
    expect(signAuthorization(signed, domain, signerPrivateKey)).toEqual(signed)
  })

  it('the running hash of a rulebook’s parts', () => {
    const { repeated, bytes, parts, digest } = policyDigest
    const found = partsOf(`0x${repeated.slice(2).repeat(bytes)}`)
    expect(found.parts.map(hexLength)).toEqual(parts)
    expect(found.digest).toBe(digest)
  })

  it('the running hash of a portfolio’s writes', () => {
    for (const { previous, hash, ...write } of portfolioHashes) {
      expect(portfolioHashAfter(previous, write)).toBe(hash)
    }
  })
})

describe('an opening by a signature', () => {
  const opened = z.object({ digest: hex, sig: hex })
  const { usdc, order, separators, buy, request } = readVectors(
    'opening',
    z.object({
      usdc: z.object({ address: hex, name: z.string(), version: z.string() }),
      order: z.object({ account: hex, orderId: hex, commit: hex, deadline: z.int(), validBefore: z.int() }),
      separators: z.object({ usdc: hex, escrow: hex }),
      buy: opened.extend({ amount: z.coerce.bigint(), nonce: hex }),
      request: opened,
    }),
  )
  const place = { ...domain, usdc }

  it('is of the order that is sealed in the vector of its envelope', () => {
    expect(order.commit).toBe(toEnclave.cases[0]?.commit)
  })

  it.each([
    ['the one of a buy', { ...order, amount: buy.amount }, buy, separators.usdc],
    ['the one of a request', { ...order, amount: 0n }, request, separators.escrow],
  ])('%s is signed by the account', (_, opening, { digest, sig }, separator) => {
    const { domain, types, message } = openingTypedData(opening, place)
    expect(TypedDataEncoder.hashDomain(domain)).toBe(separator)
    expect(TypedDataEncoder.hash(domain, types, message)).toBe(digest)
    expectSigned(openingDigest(opening, place), digest, sig)
  })

  it('names the order of a buy in its nonce', () => {
    expect(buyNonce(order)).toBe(buy.nonce)
    const other = `0x${'01'.repeat(32)}` as const
    const others = [{ orderId: other }, { commit: other }, { deadline: order.deadline + 1 }]
    for (const change of others) expect(buyNonce({ ...order, ...change })).not.toBe(buy.nonce)
  })
})

describe('a deposit', () => {
  const depositSchema = z.strictObject({
    plaintext: z.looseObject({}),
    digest: hex,
    envelope,
    commit: hex,
    call: z.strictObject({ signature: z.string(), args: z.array(z.string()), data: hex }),
  })
  const deposits = readVectors('deposits', z.strictObject({ usdc: depositSchema, shares: depositSchema }))

  it.each(Object.entries(deposits))(
    'a deposit of %s is signed and sealed as any other order, and its escrow opened by its call',
    async (name, { plaintext, digest, commit, call, ...sealed }) => {
      const intent = intentSchema.parse(plaintext)
      const { orderId, maxSpend, expiry, symbol } = intent
      expect(intent.side).toBe('DEPOSIT')
      expectSigned(intentDigest(intent, domain), digest, intent.sig)
      expect(await seal(plaintext, toEnclave.recipient, ORDER_PLACE, randomness)).toEqual(sealed.envelope)
      expect(await open(sealed.envelope, enclaveKey, ORDER_PLACE)).toEqual(plaintext)
      expect(commitOf(sealed.envelope)).toBe(commit)
      const args = [orderId, commit, ...(name === 'usdc' ? [] : [nameToBytes32(symbol)]), maxSpend, expiry]
      expect(call.args).toEqual(args.map(String))
      expect(new Interface(orderEscrowAbi).encodeFunctionData(call.signature, args)).toBe(call.data)
    },
  )
})

describe('a resolution', () => {
  const {
    entry,
    plaintext,
    digest,
    envelope: posted,
    sealedDigest,
    sig,
    nonce,
    move,
  } = readVectors(
    'resolution',
    z.object({
      entry: openOrderSchema,
      plaintext: resolutionSchema,
      digest: hex,
      envelope,
      sealedDigest: hex,
      sig: hex,
      nonce: z.object({
        ...{ resolves: z.literal('nonce'), v: z.literal(1), orderId: bytes32Schema },
        ...{ portfolioHash: bytes32Schema, validBefore: z.int(), digest: hex },
      }),
      move: z.object({
        ...{ resolves: z.literal('move'), v: z.literal(1), from: hex, to: hex },
        ...{ validBefore: z.int(), digest: hex },
      }),
    }),
  )

  it('names the entry and its expiry, and is signed inside the seal and outside it', async () => {
    if (plaintext.resolves !== 'order') throw new Error('expected the resolution of an order')
    expect(entryHash(plaintext.orderId, entry)).toBe(plaintext.entryHash)
    for (const change of [{ locked: 1n }, { brokerOrderId: 'never-placed' }, { placedAt: 1 }]) {
      expect(entryHash(plaintext.orderId, { ...entry, ...change })).not.toBe(plaintext.entryHash)
    }
    const { sig: inner, ...unsigned } = plaintext
    const { validBefore } = unsigned
    expectSigned(resolutionDigest(unsigned, domain), digest, inner)
    expect(resolutionDigest({ ...unsigned, validBefore: validBefore + 1 }, domain)).not.toBe(digest)
    expect(await sealResolution(plaintext, toEnclave.recipient, domain, randomness)).toEqual(posted)
    expectSigned(sealedResolutionDigest(posted, validBefore, domain), sealedDigest, sig)
    expect(sealedResolutionDigest(posted, validBefore + 1, domain)).not.toBe(sealedDigest)
    const body = { ...posted, validBefore, sig }
    expect(postResolutionSchema.parse(body)).toEqual(body)
    const { digest: ofNonce, ...lowered } = nonce
    expect(resolutionDigest(lowered, domain)).toBe(ofNonce)
    const { digest: ofMove, ...moved } = move
    expect(resolutionDigest(moved, domain)).toBe(ofMove)
  })

  it('opens for its own escrow and chain, and nowhere else', async () => {
    expect(await openResolution(posted, enclaveKey, domain)).toEqual(plaintext)
    const elsewhere = [
      openResolution(posted, enclaveKey, { ...domain, chainId: chainId + 1 }),
      openResolution(posted, enclaveKey, { ...domain, escrow: `0x${'01'.repeat(20)}` }),
      open(posted, enclaveKey, ORDER_PLACE),
    ]
    await Promise.all(elsewhere.map((each) => expect(each).rejects.toMatchObject({ code: 'undecryptable' })))
  })
})
