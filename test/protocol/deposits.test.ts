// The two deposits as another client makes them: intent, envelope and the call that opens the escrow.
import { hexlify, Interface, toUtf8Bytes, zeroPadBytes } from 'ethers'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { commitOf, ORDER_PLACE, open, seal } from '../../src/protocol/envelope.js'
import { hexBetween, hexToBytes } from '../../src/protocol/hex.js'
import { intentDigest, intentSchema } from '../../src/protocol/intent.js'
import { signDigest } from '../../src/protocol/signature.js'
import { readVectors } from '../support/vectors.js'

const hex = hexBetween(0, 20_480)
const depositSchema = z.strictObject({
  plaintext: z.looseObject({}),
  digest: hex,
  envelope: z.object({ epk: hex, iv: hex, ct: hex, tag: hex }),
  commit: hex,
  call: z.strictObject({ signature: z.string(), args: z.array(z.string()), data: hex }),
})
const deposits = readVectors('deposits', z.strictObject({ usdc: depositSchema, shares: depositSchema }))
const { walletPrivateKey, chainId, escrow } = readVectors(
  'intents',
  z.object({ walletPrivateKey: hex, chainId: z.int(), escrow: hex }),
)
const { recipientPrivateKey, recipient, ephemeralPrivateKey, iv } = readVectors(
  'envelopes',
  z.object({ recipientPrivateKey: hex, recipient: hex, ephemeralPrivateKey: hex, iv: hex }),
)

describe.each(Object.entries(deposits))('a deposit of %s', (name, { plaintext, digest, ...sealed }) => {
  const intent = intentSchema.parse(plaintext)

  it('is signed and sealed as any other order', async () => {
    expect(intent.side).toBe('DEPOSIT')
    expect(intentDigest(intent, { chainId, escrow })).toBe(digest)
    expect(signDigest(digest, walletPrivateKey)).toBe(intent.sig)
    const randomness = { ephemeralKey: hexToBytes(ephemeralPrivateKey), iv: hexToBytes(iv) }
    expect(await seal(plaintext, recipient, ORDER_PLACE, randomness)).toEqual(sealed.envelope)
    expect(await open(sealed.envelope, hexToBytes(recipientPrivateKey), ORDER_PLACE)).toEqual(plaintext)
    expect(commitOf(sealed.envelope)).toBe(sealed.commit)
  })

  it('has its escrow opened by this call', () => {
    const { orderId, maxSpend, expiry, symbol } = intent
    const asset = name === 'usdc' ? [] : [zeroPadBytes(hexlify(toUtf8Bytes(symbol)), 32)]
    const args = [orderId, sealed.commit, ...asset, maxSpend, expiry]
    const { signature, data } = sealed.call
    expect(sealed.call.args).toEqual(args.map(String))
    expect(new Interface(orderEscrowAbi).encodeFunctionData(signature, args)).toBe(data)
  })
})
