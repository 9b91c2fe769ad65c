// Another implementation of docs/protocol.md, in test/support/pageClient, computes the vectors that the page links.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromHex, isHex, toHex, uint256be } from '../support/pageClient/bytes.js'
import { calldata } from '../support/pageClient/chain.js'
import { publicKeyOf, sharedX, signDigest } from '../support/pageClient/curve.js'
import {
  commitOf,
  envelopeKey,
  envelopeOf,
  hashOfEnvelope,
  open,
  pad,
  seal,
} from '../support/pageClient/envelope.js'
import { accountIdOf, nameBytes, nameOf } from '../support/pageClient/identifiers.js'
import { canonicalJson, hexOf, integerOf, listOf, objectOf, textOf } from '../support/pageClient/json.js'
import { openUserBlob } from '../support/pageClient/portfolio.js'
import { derivePortfolioKey, messageDigest } from '../support/pageClient/portfolioKey.js'
import {
  buyNonce,
  buyOpeningHashes,
  cancelDigest,
  domainSeparator,
  intentDigest,
  intentStructHash,
  openingTypeHashes,
  policyHash,
  requestOpeningHashes,
  rulebookDigest,
  rulebookStructHash,
  sealedCancelDigest,
  sealedRulebookDigest,
} from '../support/pageClient/typedData.js'
import { bytesOf, intentOf, member, objectsOf, rulebookOf, vector } from './support/vectors.js'

const support = new URL('../support/', import.meta.url)

describe('the client that is written from the page', () => {
  const files = readdirSync(new URL('pageClient/', support)).map((name) => `pageClient/${name}`)

  it.each(['pageClient.ts', ...files])('uses none of the project’s code: %s', (name) => {
    const source = readFileSync(new URL(name, support), 'utf8')
    const imported = [...source.matchAll(/(?:from|import|require)\b[\s(]*'([^']+)'/g)].map(([, from]) => from)
    expect(
      imported.filter((from) => !/^(\.\/(pageClient\/)?\w+\.js|ethers|node:crypto)$/.test(from ?? '')),
    ).toEqual([])
  })
})

describe('the page’s vectors, computed from the page', () => {
  const signed = vector('intents', '/')
  const walletKey = bytesOf(signed, 'walletPrivateKey')
  const domain = { chainId: BigInt(integerOf(signed, 'chainId')), escrow: hexOf(signed, 'escrow') }

  it('identifiers', () => {
    const identifiers = vector('identifiers', '/')
    for (const account of objectsOf(identifiers, 'accountIds'))
      expect(toHex(accountIdOf(hexOf(account, 'address')))).toBe(account.accountId)
    for (const name of objectsOf(identifiers, 'names')) {
      expect(nameBytes(textOf(name, 'name'))).toBe(name.bytes32)
      expect(nameOf(hexOf(name, 'bytes32'))).toBe(name.name)
    }
  })

  it('the portfolio key, from the wallet’s', () => {
    const keys = vector('keys', '/')
    expect(toHex(messageDigest())).toBe(vector('steps', '/personalSign').digest)
    expect(toHex(signDigest(bytesOf(keys, 'walletPrivateKey'), messageDigest()))).toBe(keys.signature)
    const { privateKey, publicKey } = derivePortfolioKey(bytesOf(keys, 'walletPrivateKey'))
    expect(toHex(privateKey)).toBe(keys.portfolioPrivateKey)
    expect(toHex(publicKey)).toBe(keys.portfolioPublicKey)
  })

  it('the intent’s hashes and signature', () => {
    const { plaintext } = vector('intents', '/intent')
    const steps = vector('steps', '/intent')
    const intent = intentOf(objectOf(plaintext))
    expect(toHex(domainSeparator(domain))).toBe(vector('steps', '/domain').separator)
    expect(toHex(intentStructHash(intent))).toBe(steps.structHash)
    expect(toHex(intentDigest(domain, intent))).toBe(steps.digest)
    expect({ ...intent, sig: toHex(signDigest(walletKey, intentDigest(domain, intent))) }).toEqual(plaintext)
  })

  it('the rulebook’s hashes and signature', () => {
    const { plaintext } = vector('intents', '/rulebook')
    const steps = vector('steps', '/policyIntent')
    const rulebook = rulebookOf(objectOf(plaintext))
    expect(canonicalJson(rulebook.policy)).toBe(steps.canonicalJson)
    expect(toHex(policyHash(rulebook.policy))).toBe(steps.policyHash)
    expect(toHex(rulebookStructHash(rulebook))).toBe(steps.structHash)
    expect(toHex(rulebookDigest(domain, rulebook))).toBe(steps.digest)
    const sig = toHex(signDigest(walletKey, rulebookDigest(domain, rulebook)))
    expect({ ...rulebook, sig }).toEqual(plaintext)
  })

  it('the admin’s signature of the envelope', () => {
    const { envelope } = vector('envelopes', '/cases/1')
    const { author, ...stated } = vector('intents', '/sealedRulebook')
    const orgId = hexOf(objectOf(author), 'orgId')
    const hash = hashOfEnvelope(envelopeOf(objectOf(envelope)))
    const digest = sealedRulebookDigest(domain, orgId, hash)
    expect({ envelopeHash: toHex(hash), digest: toHex(digest) }).toEqual(stated)
    expect({ orgId, sig: toHex(signDigest(walletKey, digest)) }).toEqual(author)
  })

  it('envelopes for the enclave', () => {
    const keys = vector('envelopes', '/')
    const draw = { ephemeralKey: bytesOf(keys, 'ephemeralPrivateKey'), iv: bytesOf(keys, 'iv') }
    for (const [kind, index] of [
      ['order', 0],
      ['policy', 1],
    ] as const) {
      const { plaintext, envelope, commit } = vector('envelopes', `/cases/${index}`)
      const sealed = seal(kind, plaintext, bytesOf(keys, 'recipient'), draw)
      expect(sealed).toEqual(envelope)
      expect(commitOf(sealed)).toBe(commit)
    }
  })

  it.each(['usdc', 'shares'])('a deposit of %s', (name) => {
    const keys = vector('envelopes', '/')
    const { plaintext, digest, envelope, commit, call } = vector('deposits', `/${name}`)
    const intent = intentOf(objectOf(plaintext))
    expect(toHex(intentDigest(domain, intent))).toBe(digest)
    const sig = toHex(signDigest(walletKey, intentDigest(domain, intent)))
    expect({ ...intent, sig }).toEqual(plaintext)
    const draw = { ephemeralKey: bytesOf(keys, 'ephemeralPrivateKey'), iv: bytesOf(keys, 'iv') }
    const sealed = seal('order', plaintext, bytesOf(keys, 'recipient'), draw)
    expect(sealed).toEqual(envelope)
    expect(commitOf(sealed)).toBe(commit)
    const { orderId, symbol, maxSpend, expiry } = intent
    const asset = name === 'usdc' ? [] : [nameBytes(symbol)]
    const args = [orderId, commitOf(sealed), ...asset, BigInt(maxSpend), BigInt(expiry)]
    expect(args.map(String)).toEqual(listOf(objectOf(call), 'args'))
    expect(calldata(name === 'usdc' ? 'openBuy' : 'openDeposit', args)).toBe(objectOf(call).data)
  })

  it('the steps to the key and the padding of an order', () => {
    const keys = vector('envelopes', '/')
    const steps = vector('steps', '/orderEnvelope')
    const z = sharedX(bytesOf(keys, 'ephemeralPrivateKey'), bytesOf(keys, 'recipient'))
    const epk = publicKeyOf(bytesOf(keys, 'ephemeralPrivateKey'))
    expect(toHex(z)).toBe(steps.z)
    expect(toHex(envelopeKey(z, epk, bytesOf(keys, 'recipient')))).toBe(steps.key)
    expect(pad(' '.repeat(integerOf(steps, 'plaintextBytes')), 'order').length).toBe(steps.paddedBytes)
    expect(pad(' '.repeat(256), 'notice').length).toBe(256)
  })

  it('envelopes for the employee', () => {
    const key = bytesOf(vector('envelopes', '/toEmployee'), 'recipientPrivateKey')
    for (const [kind, index] of [
      ['portfolio', 0],
      ['notice', 1],
    ] as const) {
      const sealed = vector('envelopes', `/toEmployee/cases/${index}`)
      const envelope = envelopeOf(member(sealed, 'envelope'))
      expect(open(kind, bytesOf(sealed, 'context'), envelope, key)).toEqual(sealed.plaintext)
      expect(() => open(kind, Buffer.alloc(0), envelope, key)).toThrow()
    }
  })

  it('the admin’s copy of a rulebook', () => {
    const key = bytesOf(vector('envelopes', '/toEmployee'), 'recipientPrivateKey')
    const { context, plaintext, copy } = vector('rulebookCopy', '/')
    const { chainId, escrow, orgId, version, envelope } = objectOf(copy)
    const be = (value: unknown, bytes: number) =>
      Number(value)
        .toString(16)
        .padStart(2 * bytes, '0')
    const place = [be(chainId, 32), escrow, orgId, be(version, 8)]
      .map((part) => String(part).replace('0x', '').toLowerCase())
      .join('')
    expect(`0x${place}`).toBe(context)
    const opened = open('rulebook-copy', Buffer.from(place, 'hex'), envelopeOf(objectOf(envelope)), key)
    expect(opened).toEqual(plaintext)
  })

  it('a cancel', () => {
    const keys = vector('envelopes', '/')
    const { context, plaintext, envelope, sig, ...stated } = vector('cancel', '/')
    const orderId = hexOf(objectOf(plaintext), 'orderId')
    const account = hexOf(objectOf(plaintext), 'account')
    const digest = cancelDigest(domain, orderId, account)
    const intent = { v: 1, orderId, account, sig: toHex(signDigest(walletKey, digest)) }
    expect(intent).toEqual(plaintext)
    const draw = { ephemeralKey: bytesOf(keys, 'ephemeralPrivateKey'), iv: bytesOf(keys, 'iv') }
    const place = Buffer.concat([uint256be(domain.chainId), fromHex(domain.escrow), fromHex(orderId)])
    expect(toHex(place)).toBe(context)
    const sealed = seal('cancel', intent, bytesOf(keys, 'recipient'), draw, place)
    expect(sealed).toEqual(envelope)
    const hash = hashOfEnvelope(sealed)
    const sealedDigest = sealedCancelDigest(domain, orderId, hash)
    expect({
      digest: toHex(digest),
      commit: commitOf(sealed),
      envelopeHash: toHex(hash),
      sealedDigest: toHex(sealedDigest),
    }).toEqual(stated)
    expect(toHex(signDigest(walletKey, sealedDigest))).toBe(sig)
  })

  it('an opening by a signature', () => {
    const [usdc, order] = [vector('opening', '/usdc'), vector('opening', '/order')]
    const [buy, request] = [vector('opening', '/buy'), vector('opening', '/request')]
    const place = {
      address: hexOf(usdc, 'address'),
      name: textOf(usdc, 'name'),
      version: textOf(usdc, 'version'),
    }
    const opening = {
      account: hexOf(order, 'account'),
      orderId: hexOf(order, 'orderId'),
      commit: hexOf(order, 'commit'),
      deadline: integerOf(order, 'deadline'),
      validBefore: integerOf(order, 'validBefore'),
    }
    const { account, orderId, commit, deadline, validBefore } = opening
    const numbers = [BigInt(deadline), BigInt(validBefore)]
    const amount = textOf(buy, 'amount')
    const ofBuy = buyOpeningHashes(domain, place, opening, amount)
    const buySig = toHex(signDigest(walletKey, ofBuy.digest))
    const structOfBuy = [account, orderId, commit, BigInt(amount), ...numbers]
    expect({
      amount,
      kind: toHex(openingTypeHashes.kind),
      nonce: toHex(buyNonce(opening)),
      typeHash: toHex(openingTypeHashes.buy),
      structHash: toHex(ofBuy.structHash),
      digest: toHex(ofBuy.digest),
      sig: buySig,
      data: calldata('openBuyFor', [structOfBuy, buySig]),
    }).toEqual(buy)
    const ofRequest = requestOpeningHashes(domain, opening)
    const requestSig = toHex(signDigest(walletKey, ofRequest.digest))
    expect({
      typeHash: toHex(openingTypeHashes.request),
      structHash: toHex(ofRequest.structHash),
      digest: toHex(ofRequest.digest),
      sig: requestSig,
      data: calldata('openRequestFor', [[account, orderId, commit, ...numbers], requestSig]),
    }).toEqual(request)
    expect({ usdc: toHex(ofBuy.separator), escrow: toHex(ofRequest.separator) }).toEqual(
      vector('opening', '/separators'),
    )
  })

  it('the portfolio as it is stored', () => {
    const stored = vector('blobs', '/userBlob')
    const key = {
      privateKey: bytesOf(stored, 'privateKey'),
      publicKey: publicKeyOf(bytesOf(stored, 'privateKey')),
    }
    const version = BigInt(textOf(stored, 'version'))
    const opened = openUserBlob(hexOf(stored, 'blob'), bytesOf(stored, 'accountId'), version, key)
    const text = JSON.stringify(opened, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    expect(JSON.parse(text)).toEqual(stored.plaintext)
  })

  it('the calldata', () => {
    const called = ['approve', 'openBuy', 'openRequest', 'userBlob', 'portfolioVersion', 'orgOf', 'adminOf']
    const calls = objectsOf(vector('steps', '/calls'), 'all')
    for (const name of called) {
      const call = calls.find((one) => textOf(one, 'signature').startsWith(`${name}(`))
      const args = listOf(objectOf(call), 'args').map((arg) => (isHex(arg) ? arg : BigInt(String(arg))))
      expect(calldata(name, args)).toBe(call?.data)
    }
  })
})
