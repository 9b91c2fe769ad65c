import { getAddress, Transaction } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fees } from '../../../src/chain/fees.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { MAX_CHAIN_ID } from '../../../src/protocol/identifiers.js'
import { signDigest } from '../../../src/protocol/signDigest.js'
import { prepareTransaction, readTransaction } from '../../../src/server/signer/transaction.js'

const KEY: Hex = `0x${'17'.repeat(32)}`

const bytes = (length: { min: number; max: number }) =>
  fc.uint8Array({ minLength: length.min, maxLength: length.max }).map(bytesToHex)
const address = bytes({ min: 20, max: 20 }).map((hex): Hex => `0x${getAddress(hex).slice(2)}`)
const wei = fc.bigInt({ min: 0n, max: 2n ** 96n })
const marketFees = fc
  .tuple(wei, wei)
  .map(([tip, rest]): Fees => ({ type: 2, maxFeePerGas: tip + rest, maxPriorityFeePerGas: tip }))
const legacyFees = wei.map((gasPrice): Fees => ({ type: 0, gasPrice }))
const transaction = fc.record({
  chainId: fc.oneof(fc.integer({ min: 1, max: MAX_CHAIN_ID }), fc.constant(MAX_CHAIN_ID)),
  nonce: fc.nat(),
  to: address,
  data: bytes({ min: 0, max: 600 }),
  gasLimit: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  fees: fc.oneof(marketFees, legacyFees),
})

describe('a transaction', () => {
  test("has ethers' bytes and hash, before and after its signature", () => {
    fc.assert(
      fc.property(transaction, (call) => {
        const { fees, ...rest } = call
        const theirs = Transaction.from({ ...rest, ...fees })
        const prepared = prepareTransaction(call)
        expect(prepared.digest).toBe(theirs.unsignedHash)
        theirs.signature = signDigest(prepared.digest, KEY)
        expect(prepared.signed(signDigest(prepared.digest, KEY))).toEqual({
          hash: theirs.hash,
          raw: theirs.serialized,
        })
      }),
    )
  })

  test('drops the leading zeros of r and s', () => {
    const call = { chainId: 1, nonce: 0, to: `0x${'11'.repeat(20)}`, data: '0x', gasLimit: 21_000n } as const
    const fees: Fees = { type: 0, gasPrice: 1n }
    const signature: Hex = `0x${'00'.repeat(2)}${'11'.repeat(30)}${'00'.repeat(31)}7f1b`
    const theirs = Transaction.from({ ...call, ...fees, signature })
    expect(prepareTransaction({ ...call, fees }).signed(signature).raw).toBe(theirs.serialized)
  })

  test('refuses a signature that no node takes', () => {
    fc.assert(
      fc.property(transaction, (call) => {
        const high: Hex = `0x${'11'.repeat(32)}${'ff'.repeat(32)}1b`
        expect(() => prepareTransaction(call).signed(high)).toThrow('lower half')
      }),
      { numRuns: 5 },
    )
  })

  test('can be read back', () => {
    fc.assert(
      fc.property(transaction, (call) => {
        const prepared = prepareTransaction(call)
        const { to, data, gasLimit, fees } = call
        const { raw } = prepared.signed(signDigest(prepared.digest, KEY))
        expect(readTransaction(raw)).toEqual({ to, data, gasLimit, fees })
      }),
      { numRuns: 30 },
    )
  })
})
