import { Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressSchema } from '../../src/protocol/address.js'
import { enclaveKeySchema } from '../../src/protocol/api.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexOf,
  hexToBytes,
  uintToBytes,
} from '../../src/protocol/hex.js'
import { bytes32ToName, MAX_CHAIN_ID, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { policyHash, policySchema } from '../../src/protocol/policy.js'
import { PORTFOLIO_KEY_MESSAGE, portfolioKeyOf } from '../../src/protocol/portfolioKey.js'
import { CURVE_ORDER, recoverAddress, signDigest } from '../../src/protocol/signature.js'

const wallet = new Wallet(`0x${'77'.repeat(32)}`)
const account = addressSchema.parse(wallet.address)
const digest: Hex = `0x${'99'.repeat(32)}`
const signature = signDigest(digest, `0x${'77'.repeat(32)}`)

/** The same signature with s mirrored into the upper half and v flipped: valid ECDSA, refused by EIP-2. */
function mirrored(form: Hex): Hex {
  const bytes = hexToBytes(form)
  const s = CURVE_ORDER - bytesToUint(bytes.subarray(32, 64))
  return bytesToHex(
    concatBytes(bytes.subarray(0, 32), uintToBytes(s, 32), Uint8Array.of((bytes[64] ?? 0) ^ 7)),
  )
}

describe('hex', () => {
  it('takes either case and gives lower case', () => {
    expect(hexOf(2).parse('0xAbCd')).toBe('0xabcd')
  })

  it.each(['abcd', '0xabc', '0xabcdef', '0x', '0Xabcd', '0xabcg', ' 0xabcd', '0xabcd\n', 5, null])(
    'refuses %j',
    (text) => {
      expect(hexOf(2).safeParse(text).success).toBe(false)
    },
  )

  it('round-trips bytes and integers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        expect([...hexToBytes(bytesToHex(bytes))]).toEqual([...bytes])
        expect([...uintToBytes(bytesToUint(bytes), bytes.length)]).toEqual([...bytes])
      }),
    )
    expect(() => uintToBytes(256n, 1)).toThrow(expect.objectContaining({ code: 'invalid-bytes' }))
  })
})

describe('addresses', () => {
  it('come out checksummed', () => {
    expect(addressSchema.parse(account.toLowerCase())).toBe(account)
    expect(addressSchema.parse(`0x${account.slice(2).toUpperCase()}`)).toBe(account)
  })

  it('with a wrong checksum are an error', () => {
    const flip = (letter: string) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase())
    const wrong = account.replace(/(?<=^0x.*)[a-fA-F]/, flip)
    expect(wrong).not.toBe(account)
    expect(addressSchema.safeParse(wrong).success).toBe(false)
    expect(addressSchema.safeParse(account.slice(2)).success).toBe(false)
  })
})

describe('names', () => {
  it.each(['', 'x'.repeat(32), 'é', 'a\nb', ' a', 'a '])('refuses %j', (name) => {
    expect(() => nameToBytes32(name)).toThrow(expect.objectContaining({ code: 'invalid-name' }))
  })

  it('takes 31 characters', () => {
    const name = 'x'.repeat(31)
    expect(bytes32ToName(nameToBytes32(name))).toBe(name)
  })

  it('finds none in bytes that are no name', () => {
    expect(bytes32ToName(`0x${'00'.repeat(32)}`)).toBeNull()
    expect(bytes32ToName(`0x41004200${'00'.repeat(28)}`)).toBeNull()
    expect(bytes32ToName(`0x${'ff'.repeat(32)}`)).toBeNull()
  })
})

describe('signatures', () => {
  it('recover to the signer', () => {
    expect(recoverAddress(digest, signature)).toBe(account)
  })

  it.each([
    ['v 0', `${signature.slice(0, -2)}00`],
    ['v 1', `${signature.slice(0, -2)}01`],
    ['an EIP-155 v', `${signature.slice(0, -2)}25`],
    ['64 bytes (EIP-2098)', signature.slice(0, -2)],
    ['66 bytes', `${signature}00`],
    ['s in the upper half', mirrored(signature)],
    ['r of zero', `0x${'00'.repeat(32)}${signature.slice(66)}`],
    ['s of zero', `${signature.slice(0, 66)}${'00'.repeat(32)}1b`],
    ['r at the curve order', `0x${CURVE_ORDER.toString(16)}${signature.slice(66)}`],
  ])('with %s are refused', (_, text) => {
    expect(() => recoverAddress(digest, `0x${text.slice(2)}`)).toThrow(
      expect.objectContaining({ name: 'ProtocolError' }),
    )
  })
})

describe('portfolio key', () => {
  it('is the same from every form that wallets give the signature', async () => {
    const standard: Hex = `0x${(await wallet.signMessage(PORTFOLIO_KEY_MESSAGE)).slice(2)}`
    const zeroBased: Hex = `0x${standard.slice(2, -2)}0${Number(standard.slice(-1) === 'c')}`
    const expected = portfolioKeyOf(standard, account)
    expect(portfolioKeyOf(mirrored(standard), account)).toEqual(expected)
    expect(portfolioKeyOf(zeroBased, account)).toEqual(expected)
  })

  it('is refused for a signature of another wallet or another text', async () => {
    const other: Hex = `0x${(await wallet.signMessage('something else')).slice(2)}`
    expect(() => portfolioKeyOf(other, account)).toThrow(expect.objectContaining({ code: 'wrong-signer' }))
  })
})

describe('enclave key', () => {
  const key = {
    publicKey: `0x02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`,
    escrow: account,
    scheme: 's',
    usdc: account,
  }

  it('names a chain whose signatures a double still counts', () => {
    const accepts = (chainId: number) => enclaveKeySchema.safeParse({ ...key, chainId }).success
    expect(accepts(MAX_CHAIN_ID)).toBe(true)
    expect(accepts(MAX_CHAIN_ID + 1)).toBe(false)
  })
})

describe('policy', () => {
  const rules = { canBuy: true, canSell: true, restricted: ['AAPL'] }
  const policy = {
    employees: { [account.toLowerCase()]: rules },
    maxOrderNotional: '1',
    allowWithdrawShares: false,
  }

  it('has one hash whatever the order of its members', () => {
    const reversed = Object.fromEntries(Object.entries(policy).reverse())
    expect(policyHash(policySchema.parse(reversed))).toBe(policyHash(policySchema.parse(policy)))
  })

  it.each([
    ['a checksummed employee', { employees: { [account]: rules } }],
    [
      'a symbol twice',
      { employees: { [account.toLowerCase()]: { ...rules, restricted: ['AAPL', 'AAPL'] } } },
    ],
    ['a number for money', { maxOrderNotional: 1 }],
    ['an unknown rule', { canFly: true }],
  ])('with %s is refused', (_, change) => {
    expect(policySchema.safeParse({ ...policy, ...change }).success).toBe(false)
  })
})
